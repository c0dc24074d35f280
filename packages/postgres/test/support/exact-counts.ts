import { expect } from "vitest";
import { postgresStore } from "../../src/index.js";
import { runChild } from "./child.js";
import { countIn } from "./counting.js";
import type { TestServer } from "./server.js";

/**
 * Lets processes write to one namespace, every outcome sent by two of them, and expects each to count once: in the ledger, in one
 * state that all touch and in twenty that they touch in different orders. Returns the deadlocks that the server saw.
 */
export async function expectExactCounts(server: TestServer, processes: number, outcomes: number): Promise<void> {
  const schema = server.schema();
  const total = processes * outcomes;
  const children = await Promise.all(
    Array.from({ length: processes }, (_, child) => {
      const prefixes = `p${child},p${(child + 1) % processes}`;
      return runChild("count.mjs", [server.url(), schema, prefixes, String(outcomes), "20"]);
    }),
  );
  expect(children.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
    Array(processes).fill({ code: 0, stderr: "" }),
  );
  expect(children.reduce((sum, { stdout }) => sum + Number(stdout), 0)).toBe(total);
  const store = postgresStore({ connectionString: server.url(), schema });
  expect(await countIn(store)).toBe(total);
  const keys = new Set<string>();
  const touched = new Map<string, number>();
  for (let after = 0; after < total; after += 10_000) {
    const entries = await store.readEntries("n", { after, limit: 10_000 });
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, i) => after + i + 1));
    for (const { key } of entries) {
      keys.add(key);
      const n = Number(key.split("-")[1]);
      const places = new Set([0, 1, 2, 3, 4].map((i) => `m${(n * 7 + i * (1 + (n % 3))) % 20}`));
      for (const id of places) touched.set(id, (touched.get(id) ?? 0) + 1);
    }
  }
  expect(keys.size).toBe(total);
  const states = await store.scanStates("n", "memory:docs", { limit: 100 });
  expect(new Map(states.map(({ id, value }) => [id, Number(new TextDecoder().decode(value))]))).toEqual(touched);
  await store.close();
  expect(await deadlocks(server)).toBe(0);
}

/** Since the server started. */
export async function deadlocks({ pool }: TestServer): Promise<number> {
  const { rows } = await pool.query("select sum(deadlocks)::int as deadlocks from pg_stat_database");
  return rows[0].deadlocks;
}
