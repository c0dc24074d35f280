import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryStore } from "../src/index.js";
import { COLLECTIONS, type Command, command, newSession, randomRequest, run } from "./support/commands.js";
import { everyLearnerByName } from "./support/every-learner.js";
import { MINUTE, testEngine } from "./support/test-engine.js";

const step: fc.Arbitrary<{ readonly command: Command; readonly engine: 0 | 1; readonly wait: number }> = fc.record({
  command,
  engine: fc.constantFrom<0 | 1>(0, 0, 0, 1),
  wait: fc.constantFrom(0, 0, 0, 30 * MINUTE, 61 * MINUTE),
});

/** The default is tried hardest; the others share its path. */
const runsOf = (name: string): number => (name === "oar" ? 200 : 40);

describe.each(everyLearnerByName)(
  "after any sequence of calls by two engines on one store, with %s",
  (name, { create }) => {
    it("replaying the ledger gives the live state, bit for bit, and both engines rank by it", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), fc.nat(1_000), async (steps, seed) => {
          const store = memoryStore();
          const onEdit = (["keep", "discount", "reset"] as const)[seed % 3] as "keep";
          const holdout = seed % 2 === 0 ? 0 : 0.5;
          const doubt = { trust: "audited", sourceCaps: { weight: 1.5, window: 10 * MINUTE } } as const;
          const rules = seed % 5 < 2 ? doubt : {};
          const engines = ["left", "right"].map((prefix) =>
            testEngine({ store, prefix, learner: create(), onEdit, holdout, ...rules }),
          );
          const sessions = [newSession("default"), newSession("default")];
          for (const { command: next, engine, wait } of steps) {
            for (const { clock } of engines) clock.now += wait;
            await run((engines[engine] as (typeof engines)[0]).engine, sessions[engine] as (typeof sessions)[0], next);
          }
          for (const { engine } of engines) await engine.flush();
          const replayed = await (engines[0] as (typeof engines)[0]).engine.replay();
          expect(replayed.differences).toEqual([]);
          expect(replayed.identical).toBe(true);

          // What an engine remembers of the states must never differ from what is stored.
          const { engine: fresh, clock } = testEngine({ store, prefix: "fresh", learner: create() });
          clock.now = (engines[0] as (typeof engines)[0]).clock.now;
          for (const collection of COLLECTIONS) {
            const request = { ...randomRequest(seed, 0), collection, record: false };
            const expected = await fresh.rank(request).catch((error: unknown) => error);
            for (const { engine } of engines) {
              expect(await engine.rank(request).catch((error: unknown) => error)).toEqual(expected);
            }
          }
        }),
        { numRuns: runsOf(name) },
      );
    });
  },
);
