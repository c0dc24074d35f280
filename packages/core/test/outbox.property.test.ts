import fc from "fast-check";
import { expect, it } from "vitest";
import { QavrError } from "../src/index.js";
import { replay } from "../src/maintenance/index.js";
import { withOutbox } from "../src/store-kit.js";
import { memoryOutbox } from "./support/memory-outbox.js";
import { queueing } from "./support/queueing.js";
import { request, testEngine } from "./support/test-engine.js";

/** How the next commits of the store go: kept and answered, lost, or kept without an answer. */
const weather = fc.constantFrom("fine", "away", "unheard");
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("run" as const), reward: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("report" as const), run: fc.nat(20), reward: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("weather" as const), weather }) },
  { weight: 1, arbitrary: fc.constant({ kind: "restart" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "wait" as const }) },
);

it("keeps each acknowledged outcome exactly once, however the store fails and whenever the process begins again", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: "max" }), async (steps) => {
      const { inner, clock } = queueing();
      const outbox = memoryOutbox();
      let now = "fine";
      const store = {
        ...inner,
        commit: async (...call: Parameters<typeof inner.commit>) => {
          if (now === "away") throw new QavrError("STORE_UNAVAILABLE", "The server is away.");
          const receipts = await inner.commit(...call);
          if (now === "unheard") throw new QavrError("STORE_COMMIT_UNKNOWN", "The connection was lost.");
          return receipts;
        },
      };
      let processes = 0;
      const begin = () =>
        testEngine({ store: withOutbox(store, outbox), prefix: `process ${++processes}`, clock: () => clock.now })
          .engine;
      let engine = begin();
      const episodes: string[] = [];
      const acknowledged: string[] = [];
      const say = async (outcome: Promise<unknown>, key: string): Promise<void> => {
        const refusal = await outcome.then(
          () => undefined,
          (error: unknown) => error,
        );
        if (refusal === undefined) acknowledged.push(key);
        // The store is away, and the run waits in the outbox.
        else expect(refusal).toMatchObject({ code: "STORE_UNAVAILABLE" });
      };
      for (const [place, next] of steps.entries()) {
        const idempotencyKey = `key ${place}`;
        const episode = next.kind === "report" ? episodes[next.run % Math.max(1, episodes.length)] : undefined;
        if (next.kind === "weather") now = next.weather;
        if (next.kind === "restart") engine = begin();
        if (next.kind === "wait") clock.now += 5_000;
        if (next.kind === "run") {
          const ranking = await engine.rank(request());
          await say(engine.end(ranking.episode, { reward: next.reward, idempotencyKey }), idempotencyKey);
          episodes.push(ranking.episode);
        }
        if (next.kind === "report" && episode !== undefined) {
          await say(engine.report(episode, { reward: next.reward, idempotencyKey }), idempotencyKey);
        }
      }
      now = "fine";
      clock.now += 5_000;
      await engine.flush();
      expect(outbox.waiting).toEqual([]);
      const entries = await inner.readEntries("default", { limit: 1_000 });
      const keys = entries.filter(({ type }) => type === "outcome").map(({ key }) => key);
      expect(keys.toSorted()).toEqual(acknowledged.map((key) => `outcome:key:${key}`).toSorted());
      expect(await replay(engine)).toMatchObject({ identical: true });
    }),
    { numRuns: 100 },
  );
});
