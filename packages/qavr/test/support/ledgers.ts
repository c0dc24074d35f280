import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine, type Engine, type EngineOptions, memoryStore, type Store } from "@qavr/core";
import { sqliteStore } from "@qavr/sqlite";

export { oneRun } from "../../../core/test/support/one-run.js";

/** 2026-01-01. */
export const START = 1_767_225_600_000;
const MINUTE = 60_000;

/** A path in a new folder, which is removed at the end of the test run. */
export function newPath(name = "ledger.db"): string {
  return join(mkdtempSync(join(tmpdir(), "qavr-desk-")), name);
}

/** An engine whose clock moves a minute per run, and whose episodes are `run-1`, `run-2`, … */
export function appEngine(store: Store, options: Partial<EngineOptions> = {}): Engine {
  let now = START;
  let ids = 0;
  return createEngine({
    store,
    clock: () => (now += MINUTE / 4),
    createId: () => `run-${++ids}`,
    ...options,
  });
}

/** A new SQLite ledger with such an engine. */
export function newLedger(options: Partial<EngineOptions> = {}): { readonly path: string; readonly engine: Engine } {
  const path = newPath();
  return { path, engine: appEngine(sqliteStore(path), options) };
}

export interface Runs {
  readonly runs: number;
  readonly namespace?: string;
  /** Memories of the store. @default 12 */
  readonly memories?: number;
}

/**
 * Runs an application in which memories d0, d3, d6, … help and the others do not. It finds eight of its memories for each request and
 * shows three.
 */
export async function runApp(engine: Engine, { runs, namespace = "default", memories = 12 }: Runs): Promise<void> {
  for (let run = 0; run < runs; run++) {
    const candidates = Array.from({ length: 8 }, (_, i) => {
      const number = (run * 5 + i * 7) % memories;
      return { id: `d${number}`, label: `Note ${number}`, similarity: 0.9 - i * 0.03 };
    }).filter(({ id }, i, all) => all.findIndex((other) => other.id === id) === i);
    const vector = [Math.cos(run), Math.sin(run), 1];
    const { episode, items } = await engine.rank({ namespace, vector, candidates, topK: 3 });
    const helped = items.some(({ id }) => Number(id.slice(1)) % 3 === 0);
    const vote = run % 10 === 0 && items[0] ? { [helped ? "helpful" : "harmful"]: [items[0].id] } : {};
    await engine.end(episode, { reward: helped, tier: "verified", source: "checker", ...vote });
  }
}

/** A SQLite ledger of such an application, closed. Returns its path. */
export async function ledgerFile(runs: Runs, options: Partial<EngineOptions> = {}): Promise<string> {
  const { path, engine } = newLedger(options);
  await runApp(engine, runs);
  await engine.close();
  return path;
}

/** A SQLite ledger of runs that merely ended, closed. Returns its path. */
export async function unjudgedLedger(runs: number): Promise<string> {
  const { path, engine } = newLedger();
  for (let run = 0; run < runs; run++) {
    const { episode } = await engine.rank({ candidates: [{ id: "a", similarity: 1 }], topK: 1 });
    await engine.end(episode, { reward: true, tier: "completed" });
  }
  await engine.close();
  return path;
}

/** One in memory, with its store. */
export async function ledgerInMemory(runs: Runs): Promise<{ engine: Engine; store: Store }> {
  const store = memoryStore();
  const engine = appEngine(store);
  await runApp(engine, runs);
  return { engine, store };
}
