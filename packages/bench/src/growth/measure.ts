import { mkdtempDisposable, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createEngine, type Engine, type EngineOptions } from "@qavr/core";
import { compact, verify } from "@qavr/core/maintenance";
import { type Random, seededRandom } from "@qavr/lab";
import { sqliteStore } from "@qavr/sqlite";
import { embeddingLikeVectors } from "../speed/embedding-like-vectors.js";
import { sqliteBytes } from "../stores/size.js";

/** Every run: what it is shown, and who reports on it. */
export const RUN = { candidates: 20, shown: 5, dims: 64, sources: 8, together: 20 } as const;

export interface GrowthPlan {
  readonly outcomes: number;
  readonly memories: number;
  /** Measurements on the way. */
  readonly points: number;
  /** Outcomes of each other way to record. */
  readonly beside: number;
}

export const FULL: GrowthPlan = { outcomes: 1_000_000, memories: 10_000, points: 50, beside: 20_000 };
export const LOOK: GrowthPlan = { outcomes: 20_000, memories: 2_000, points: 10, beside: 2_000 };

/** The process and its ledger after so many outcomes. */
export interface GrowthPoint {
  readonly outcomes: number;
  /** Resident set, and reachable memory, bytes. */
  readonly rss: number;
  readonly heap: number;
  /** Ledger and log, bytes. */
  readonly disk: number;
  /** Of the outcomes since the last point. */
  readonly perSecond: number;
}

/** A way to record, and its bytes per outcome. */
export interface Recorded {
  readonly name: string;
  readonly bytes: number;
  /** After everything was compacted and every episode is over. */
  readonly compacted: number;
}

export interface GrowthResults {
  readonly plan: GrowthPlan;
  readonly points: readonly GrowthPoint[];
  /** Bytes per outcome by table and index. */
  readonly parts: Readonly<Record<string, number>>;
  /** ms from opening the ledger to the open store, and to the end of its first ranking. */
  readonly open: number;
  readonly firstRanking: number;
  /** s to record all outcomes, and to verify the ledger, which folds it again. */
  readonly writing: number;
  readonly verifying: number;
  readonly beside: readonly Recorded[];
}

const START = 1_767_225_600_000;
const BETWEEN = 10_000;
const DAY = 86_400_000;
const VECTORS = 500;
const SEED = 11;

interface Ways extends Pick<EngineOptions, "recordedCandidates"> {
  /** Length of request vectors; 0: requests are texts. @default 64 */
  readonly dims?: number;
}

/** The usual way first. */
const WAYS: Readonly<Record<string, Ways>> = {
  "requests of 64 numbers": {},
  "the same, five of the candidates recorded": { recordedCandidates: RUN.shown },
  "requests of 512 numbers or more": { dims: 512 },
  "requests given as texts": { dims: 0 },
};

/** Runs on one ledger, one after the other. */
class Stream {
  readonly engine: Engine;
  readonly #clock = { now: START };
  readonly #vectors: readonly Float32Array[];
  readonly #memories: number;
  readonly #random: Random = seededRandom(SEED);
  done = 0;

  constructor(path: string, memories: number, { dims = RUN.dims, ...options }: Ways) {
    this.#memories = memories;
    this.#vectors = dims === 0 ? [] : embeddingLikeVectors({ count: VECTORS, dims, seed: SEED });
    this.engine = createEngine({ store: sqliteStore(path), clock: () => this.#clock.now, ...options });
  }

  /** Ends so many runs, some of them at once. */
  async go(runs: number): Promise<void> {
    for (const end = this.done + runs; this.done < end; ) {
      const together = Math.min(RUN.together, end - this.done);
      await Promise.all(Array.from({ length: together }, () => this.#run(this.done++)));
    }
  }

  /** Later than any outcome is accepted. */
  async compactAll(): Promise<void> {
    this.#clock.now += 100 * DAY;
    await compact(this.engine, { namespace: "default" });
  }

  rank(): Promise<unknown> {
    return this.engine.rank({ ...this.#request(this.done), record: false });
  }

  async #run(n: number): Promise<void> {
    this.#clock.now += BETWEEN;
    const request = this.#request(n);
    const helps = this.#random() < 0.6;
    const { episode } = await this.engine.rank(request);
    await this.engine.end(episode, { reward: helps, source: `source-${n % RUN.sources}` });
  }

  #request(n: number): Parameters<Engine["rank"]>[0] {
    const vector = this.#vectors[n % VECTORS];
    const first = Math.floor(this.#random() * this.#memories);
    return {
      topK: RUN.shown,
      candidates: Array.from({ length: RUN.candidates }, (_, i) => ({
        id: `memory-${(first + i * 29) % this.#memories}`,
        similarity: 0.9 - i * 0.02,
      })),
      ...(vector ? { vector } : { text: `how do I do task ${n % VECTORS}` }),
    };
  }
}

/** Bytes of each table and index. */
function partsOf(path: string): readonly { readonly name: string; readonly bytes: number }[] {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = db.prepare("SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name").all();
    return rows.map(({ name, bytes }) => ({ name: String(name), bytes: Number(bytes) }));
  } finally {
    db.close();
  }
}

async function measureWay(folder: string, name: string, { beside }: GrowthPlan): Promise<Recorded> {
  const path = join(folder, `${name.replaceAll(" ", "-")}.db`);
  // As many memories as an outcome finds again and again: a ledger of few outcomes would be mostly states.
  const stream = new Stream(path, RUN.candidates * RUN.shown, WAYS[name] as Ways);
  await stream.go(beside);
  const bytes = (await sqliteBytes(path)) / beside;
  await stream.compactAll();
  await stream.engine.close();
  const db = new DatabaseSync(path);
  db.exec("VACUUM");
  db.close();
  return { name, bytes, compacted: (await stat(path)).size / beside };
}

/** A ledger that grows, in one process. @param onProgress called with the share that is done */
export async function measureGrowth(plan: GrowthPlan, onProgress: (share: number) => void): Promise<GrowthResults> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "qavr-growth-"));
  const path = join(folder.path, "ledger.db");
  const stream = new Stream(path, plan.memories, {});
  const points: GrowthPoint[] = [];
  let writing = 0;
  for (let place = 1; place <= plan.points; place++) {
    const started = performance.now();
    await stream.go(plan.outcomes / plan.points);
    const seconds = (performance.now() - started) / 1_000;
    writing += seconds;
    (globalThis as { gc?: () => void }).gc?.();
    const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
    points.push({
      outcomes: stream.done,
      rss,
      heap: heapUsed + arrayBuffers,
      disk: await sqliteBytes(path),
      perSecond: plan.outcomes / plan.points / seconds,
    });
    onProgress(place / plan.points);
  }
  await stream.engine.close();
  const started = performance.now();
  const again = new Stream(path, plan.memories, {});
  const open = performance.now() - started;
  await again.rank();
  const firstRanking = performance.now() - started;
  const verified = performance.now();
  const { ok } = await verify(again.engine);
  if (!ok) throw new Error("The ledger does not verify.");
  const verifying = (performance.now() - verified) / 1_000;
  await again.engine.close();
  const parts = partsOf(path).map(({ name, bytes }) => [name, bytes / plan.outcomes] as const);
  const beside: Recorded[] = [];
  for (const name of Object.keys(WAYS)) beside.push(await measureWay(folder.path, name, plan));
  return { plan, points, parts: Object.fromEntries(parts), open, firstRanking, writing, verifying, beside };
}
