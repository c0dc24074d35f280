import type { Candidate, Engine, EngineOptions, LogFields, RankRequest, Store } from "../../src/index.js";
import { createEngine, memoryStore } from "../../src/index.js";

export { oneRun } from "./one-run.js";

export const MINUTE = 60_000;
export const DAY: number = 24 * 60 * MINUTE;
/** 2026-01-01, so that times look like times. */
export const START = 1_767_225_600_000;

export interface TestEngine {
  readonly engine: Engine;
  readonly store: Store;
  /** Set it to move time. */
  readonly clock: { now: number };
  readonly logs: { readonly level: string; readonly message: string; readonly fields: LogFields }[];
}

/** An engine whose time, ids and log a test controls. Ids start with `prefix`, so that several engines may share a store. */
export function testEngine(options: Partial<EngineOptions> & { readonly prefix?: string } = {}): TestEngine {
  const { prefix = "episode", ...engineOptions } = options;
  const clock = { now: START };
  const logs: TestEngine["logs"] = [];
  const write =
    (level: string) =>
    (message: string, fields: LogFields): void => {
      logs.push({ level, message, fields });
    };
  let ids = 0;
  const store = options.store ?? memoryStore();
  const engine = createEngine({
    store,
    clock: () => clock.now,
    createId: () => `${prefix}-${++ids}`,
    logger: { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") },
    ...engineOptions,
  });
  return { engine, store, clock, logs };
}

/** `count` candidates d0, d1, … in falling order of similarity. */
export function candidates(count: number, step = 0.03): Candidate[] {
  return Array.from({ length: count }, (_, i) => ({ id: `d${i}`, similarity: 0.9 - i * step }));
}

/** A request for three of ten, along the first axis. */
export function request(overrides: Partial<RankRequest> = {}): RankRequest {
  return { candidates: candidates(10), topK: 3, vector: [1, 0, 0, 0], ...overrides };
}

/** Such an engine with an open episode. */
export async function testEpisode(
  overrides: Partial<RankRequest> = {},
  options: Parameters<typeof testEngine>[0] = {},
): Promise<TestEngine & { readonly episode: string }> {
  const tested = testEngine(options);
  const { episode } = await tested.engine.rank(request(overrides));
  return { ...tested, episode };
}

export function ids(ranking: { readonly items: readonly { readonly id: string }[] }): string[] {
  return ranking.items.map(({ id }) => id);
}

/** Evidence of the memories that have some, by id. */
export async function evidenceIn(engine: Engine): Promise<Record<string, number>> {
  const found = (await engine.status()).collections.find(({ collection }) => collection === "default");
  const known = found ? [...found.best, ...found.worst] : [];
  return Object.fromEntries(known.map(({ id, evidence }) => [id, evidence]));
}

/** Every state of a namespace's fixed scopes and of one collection, as hexadecimal text: what "unchanged" is compared with. */
export async function snapshot(store: Store, namespace = "default", collection = "default"): Promise<unknown> {
  const states: Record<string, string> = {};
  for (const scope of [
    "episode",
    "alias",
    "shared",
    "stats",
    "source",
    `memory:${collection}`,
    `label:${collection}`,
  ]) {
    for (const { id, value } of await store.scanStates(namespace, scope, { limit: 10_000 })) {
      states[`${scope}/${id}`] = Buffer.from(value).toString("hex");
    }
  }
  return { head: await store.head(namespace), states };
}
