import { createEngine, type Engine, type EngineOptions, type Ranking } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { closing } from "../../core/test/support/closing.js";
import { handTimer } from "../../core/test/support/hand-timer.js";
import { type PgPool, postgresStore } from "../src/index.js";
import { interceptedPool } from "./support/intercepted-pool.js";
import { testServer } from "./support/server.js";

const server = await testServer();

/** Longer than a ranking waits, ms. */
const TOO_LONG = 51;

const engineOn = (pool: PgPool, schema: string, options: Partial<EngineOptions>): Engine =>
  closing(createEngine({ store: postgresStore({ pool, schema, partitions: 2 }), holdout: 0, ...options }));
const rank = (engine: Engine): Promise<Ranking> => {
  const candidates = ["a", "b"].map((id, place) => ({ id, similarity: 0.9 - 0.01 * place }));
  return engine.rank({ candidates, vector: [1, 2, 3], topK: 2 });
};
const ids = ({ items }: Ranking): string[] => items.map(({ id }) => id);

/** The schema of a ledger that has learned to show b first. */
async function taught(): Promise<string> {
  const schema = server.schema();
  const engine = engineOn(server.pool, schema, { readTimeout: 60_000 });
  for (let run = 0; run < 12; run++) {
    await engine.end((await rank(engine)).episode, { reward: true, helpful: ["b"], harmful: ["a"] });
  }
  await engine.close();
  return schema;
}

describe("the first rankings of a process", () => {
  it.each([
    ["a ledger that has learned", taught, ["b", "a"]],
    ["a database without tables", async () => server.schema(), ["a", "b"]],
  ])(
    "keep the host's order until the store is connected to %s, and are learned from",
    async (_what, prepare, order) => {
      const schema = await prepare();
      const timer = handTimer();
      const connected = Promise.withResolvers<void>();
      const pool: PgPool = { connect: () => connected.promise.then(() => server.pool.connect()) };
      let now = Date.now();
      const engine = engineOn(pool, schema, { setTimer: timer.setTimer, clock: () => now });
      const before = [];
      for (let ranking = 0; ranking < 6; ranking++) {
        const ranked = rank(engine);
        await timer.advance(TOO_LONG);
        before.push(await ranked);
      }
      expect(before.map(ids)).toEqual(before.map(() => ["a", "b"]));
      expect(before.map(({ degraded }) => degraded?.code)).toEqual([
        ...Array(5).fill("STORE_TIMEOUT"),
        "STORE_CIRCUIT_OPEN",
      ]);
      // Unlike a ranking, this waits.
      const status = engine.status();
      connected.resolve();
      const { taught } = await status;
      // The breaker's first pause.
      now += 250;
      const ranked = await rank(engine);
      expect([ids(ranked), ranked.degraded]).toEqual([order, undefined]);
      expect(engine.health()).toMatchObject({ readCircuitOpen: false, degradedRankings: 6 });
      await engine.end((before[0] as Ranking).episode, { reward: true });
      expect((await engine.status()).taught).toBe(taught + 1);
    },
  );

  it("are by what was learned once status() has been awaited, however long connecting takes", async () => {
    const schema = await taught();
    const timer = handTimer();
    /** Connecting, and looking at the tables, takes too long by the engine's clock. Every other answer takes no time by it. */
    const slow = interceptedPool(server.pool, async ({ text }, send) => {
      if (text.includes("pg_attribute")) await timer.advance(TOO_LONG);
      return send();
    });
    const [asked, opened] = [1, 2].map(() => engineOn(slow, schema, { setTimer: timer.setTimer })) as [Engine, Engine];
    expect((await rank(asked)).degraded).toMatchObject({ code: "STORE_TIMEOUT" });
    await opened.status();
    const ranked = await rank(opened);
    expect([ids(ranked), ranked.degraded]).toEqual([["b", "a"], undefined]);
    expect(opened.health()).toMatchObject({ readCircuitOpen: false, degradedRankings: 0 });
  });
});
