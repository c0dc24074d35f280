import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine, type Engine, memoryStore, oar, type Store } from "@qavr/core";
import { forget, replay } from "@qavr/core/maintenance";
import type { Reduce, SequencedEntry } from "@qavr/core/store";
import { ledgerReducer } from "@qavr/core/store";
import { sqliteStore } from "@qavr/sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { closing } from "../../core/test/support/closing.js";
import { postgresStore } from "../src/index.js";
import { testServer } from "./support/server.js";

const server = await testServer();

/** Entries that a busy engine leaves: several collections, votes, failures, corrections, a forgotten memory. */
async function ledger(): Promise<readonly SequencedEntry[]> {
  const store = memoryStore();
  const engine = createEngine({ store });
  for (let run = 0; run < 60; run++) {
    const candidates = Array.from({ length: 12 }, (_, i) => ({
      id: `m${(run * 5 + i * 3) % 30}`,
      similarity: 0.9 - i / 30,
    }));
    const { episode, items } = await engine.rank({
      text: `request ${run % 9}`,
      candidates,
      topK: 4,
      collection: run % 4 === 0 ? "notes\0" : "docs",
      aliases: [`run-${run}`],
    });
    const helpful = run % 5 === 0 ? { helpful: [items[0]?.id as string] } : {};
    await engine.end(episode, run % 7 === 0 ? undefined : { reward: run % 3 !== 0, ...helpful });
    if (run % 6 === 0) await engine.report(episode, { reward: true, tier: "verified" });
  }
  await forget(engine, { namespace: "default", ids: ["m3"] });
  const entries = await store.readEntries("default", { limit: 10_000 });
  await engine.close();
  return entries;
}

describe("the same events", () => {
  it("give the same bytes in memory, on SQLite and in PostgreSQL, however they are grouped", async () => {
    const entries = await ledger();
    const folder = mkdtempSync(join(tmpdir(), "qavr-replay-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const stores: Store[] = [
      memoryStore(),
      sqliteStore(join(folder, "ledger.db")),
      postgresStore({ pool: server.pool, schema: server.schema() }),
      postgresStore({ pool: server.pool, schema: server.schema(), partitions: 0, cacheBytes: 0 }),
    ];
    const scopes = new Set<string>();
    const reduce = watched(ledgerReducer(oar()), scopes);
    const dumps = await Promise.all(
      stores.map(async (store, place) => {
        const size = [1, 7, 13, entries.length][place] as number;
        for (let at = 0; at < entries.length; at += size) {
          await store.commit("default", entries.slice(at, at + size), reduce);
        }
        return dump(store, scopes);
      }),
    );
    expect(dumps[0]?.states.size).toBeGreaterThan(60);
    for (const other of dumps.slice(1)) expect(other).toEqual(dumps[0]);
    const engines = stores.map((store) => closing(createEngine({ store, clock: () => 0 })));
    const reads = await Promise.all(engines.map(known));
    expect(reads[0]?.pages[0]).toMatchObject([{ shown: expect.any(Number) }, {}, {}, {}]);
    for (const other of reads.slice(1)) expect(other).toEqual(reads[0]);
  });

  it("stand after a replay of the engine as they stood before it", async () => {
    const store = postgresStore({ pool: server.pool, schema: server.schema() });
    const entries = await ledger();
    await store.commit("default", entries, ledgerReducer(oar()));
    const engine = createEngine({ store });
    expect(await replay(engine)).toMatchObject({ identical: true, differences: [] });
    expect(await replay(engine, { write: true })).toMatchObject({ written: true });
    expect(await replay(engine)).toMatchObject({ identical: true });
    await engine.close();
  });
});

/** Facts about memories, by id and in pages of four, and two pages of the history. */
async function known(
  engine: Engine,
): Promise<{ readonly pages: readonly unknown[]; readonly rest: readonly unknown[] }> {
  const pages: unknown[] = [];
  for (let after: string | undefined, more = true; more; ) {
    const { memories, next } = await engine.memories({ collection: "docs", limit: 4, after });
    pages.push(memories);
    after = next;
    more = next !== undefined;
  }
  const ids = ["m1", "never", "m3"];
  const history = [await engine.history({ limit: 9 }), await engine.history({ after: 9, limit: 9 })];
  return { pages, rest: [await engine.memories({ collection: "docs", ids }), ...history] };
}

/** Notes which scopes are written. */
function watched(reduce: Reduce, scopes: Set<string>): Reduce {
  return function* watch(entry) {
    const writes = yield* reduce(entry);
    for (const { scope } of writes) scopes.add(scope);
    return writes;
  };
}

async function dump(
  store: Store,
  scopes: ReadonlySet<string>,
): Promise<{ readonly entries: readonly SequencedEntry[]; readonly states: Map<string, string> }> {
  const states = new Map<string, string>();
  for (const scope of [...scopes].sort()) {
    const found = await store.scanStates("default", scope, { limit: 10_000 });
    for (const { id, value } of found) states.set(JSON.stringify([scope, id]), Buffer.from(value).toString("hex"));
  }
  return { entries: await store.readEntries("default", { limit: 10_000 }), states };
}
