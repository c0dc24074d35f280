import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createEngine } from "@qavr/core";
import { compact } from "@qavr/core/maintenance";
import { sqliteStore } from "@qavr/sqlite";
import { type CheckResult, type Harness, mutantResult } from "./check.js";
import { settledHeap } from "./heap.js";
import { inFolder } from "./workspace.js";

const RUNS = { quick: 2_000, full: 100_000 } as const;
/** Compacted so often that the ledger stays about as long as it is. */
const COMPACTIONS = 20;
const MEMORIES = 500;
const MIB = 1024 * 1024;
/** Most growth in the second half of the run, in bytes. */
const GROWTH = 8 * MIB;
const HOUR = 3_600_000;
/** Full long before half time: a cache that fills must not look like a leak. Bytes. */
const CACHE = 4 * MIB;
/** Memory that the mutant leaks per run, in bytes. */
const LEAK = 65_536;

const mib = (bytes: number): string => `${(bytes / MIB).toFixed(1)} MiB`;
/** Open files of this process, 0 where the system does not say. */
const openFiles = (): number => {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return 0;
  }
};

interface Soaked {
  /** Memory in use at the middle and at the end, bytes. */
  readonly middle: number;
  readonly end: number;
  readonly files: readonly [middle: number, end: number];
}

/** Ranks, records and learns for a long time, with as many memories, and looks at what grows. */
async function soakFor(runs: number, after: () => void = () => undefined): Promise<Soaked> {
  return inFolder(async (folder) => {
    const clock = { now: 1_767_225_600_000 };
    const engine = createEngine({
      store: sqliteStore({ path: join(folder, "ledger.db"), cacheBytes: CACHE }),
      clock: () => clock.now,
    });
    const part = runs / COMPACTIONS;
    let [middle, filesThen] = [0, 0];
    for (let done = 0; done < COMPACTIONS; done++) {
      for (let run = 0; run < part; run += 50) {
        clock.now += HOUR;
        await Promise.all(Array.from({ length: 50 }, (_, i) => once(done * part + run + i)));
      }
      await compact(engine, { namespace: "default", olderThan: HOUR });
      if (done + 1 === COMPACTIONS / 2) [middle, filesThen] = [await settledHeap(), openFiles()];
    }
    const soaked = { middle, end: await settledHeap(), files: [filesThen, openFiles()] as const };
    await engine.close();
    return soaked;

    async function once(run: number): Promise<void> {
      const candidates = Array.from({ length: 20 }, (_, i) => ({
        id: `m${(7 * run + i) % MEMORIES}`,
        similarity: 0.9 - i / 40,
      }));
      const { episode } = await engine.rank({
        candidates,
        topK: 4,
        vector: [1, run % 7, run % 3],
        aliases: [`run-${run}`],
      });
      await engine.end(episode, { reward: run % 2 === 0 });
      after();
    }
  });
}

export const soak: Harness = {
  name: "soak",
  alone: true,
  async run(size): Promise<readonly CheckResult[]> {
    const kept: Uint8Array[] = [];
    // Before the long one, whose garbage would hide what it keeps.
    const mutant = await soakFor(RUNS.quick, () => kept.push(new Uint8Array(LEAK)));
    kept.length = 0;
    const { middle, end, files } = await soakFor(RUNS[size]);
    return [
      {
        promise: "R23",
        what: "many runs in one process with as many memories, compacted now and then (SQLite)",
        tried: `${RUNS[size].toLocaleString("en")} runs`,
        seen: `${mib(middle)} in use at half time, ${mib(end)} at the end; ${files.join(" and then ")} open files`,
        held: end - middle <= GROWTH && files[1] <= files[0],
      },
      mutantResult({
        what: "keeps 64 KiB of every run",
        tried: `${RUNS.quick.toLocaleString("en")} runs`,
        seen: `${mib(mutant.middle)} in use at half time, ${mib(mutant.end)} at the end`,
        held: mutant.end - mutant.middle > GROWTH,
      }),
    ];
  },
};
