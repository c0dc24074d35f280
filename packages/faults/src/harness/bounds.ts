import { statSync } from "node:fs";
import { join } from "node:path";
import { createEngine, type EngineOptions, memoryStore, type Store } from "@qavr/core";
import { compact, exportState } from "@qavr/core/maintenance";
import { sqliteStore } from "@qavr/sqlite";
import { type CheckResult, type Harness, mutantResult } from "./check.js";
import { heap } from "./heap.js";
import { inFolder } from "./workspace.js";

const RUNS = { quick: 20_000, full: 1_000_000 } as const;
const OUTCOMES = { quick: 500, full: 50_000 } as const;
const MIB = 1024 * 1024;
/** Most memory of open episodes, in bytes. */
const OPEN_BYTES = 64 * MIB;
const WAL_BYTES = 64 * MIB;

/** Ledgers forget here, so that memory measures what is open and nothing else. */
function forgetfulStore(commit: Store["commit"]): Store {
  return { ...memoryStore(), commit };
}

/** Starts runs that never end, and measures their memory. */
async function neverEnded(
  runs: number,
  commit: Store["commit"],
  limits: Pick<EngineOptions, "maxOpenEpisodes"> = {},
): Promise<{ readonly open: number; readonly bytes: number }> {
  const engine = createEngine({ store: forgetfulStore(commit), ...limits });
  const before = heap();
  for (let run = 0; run < runs; run++) {
    const candidates = Array.from({ length: 20 }, (_, i) => ({
      id: `memory-${(run + i) % 500}`,
      similarity: 0.9 - i / 40,
    }));
    await engine.rank({ candidates, topK: 4, vector: [1, run % 7, run % 3], aliases: [`run-${run}`] });
    if (run % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const bytes = heap() - before;
  return { open: engine.health().openEpisodes, bytes };
}

async function growth(
  outcomes: number,
): Promise<{ readonly wal: number; readonly ledger: number; readonly compacted: number }> {
  return inFolder(async (folder) => {
    const path = join(folder, "ledger.db");
    const store = sqliteStore(path);
    const clock = { now: 1_767_225_600_000 };
    const engine = createEngine({ store, clock: () => clock.now });
    let wal = 0;
    for (let run = 0; run < outcomes; run += 50) {
      clock.now += 3_600_000;
      await Promise.all(
        Array.from({ length: 50 }, async (_, i) => {
          const candidates = Array.from({ length: 20 }, (__, c) => ({
            id: `memory-${(run + i + c) % 500}`,
            similarity: 0.9 - c / 40,
          }));
          const { episode } = await engine.rank({ candidates, topK: 4, text: `request ${i % 17}` });
          await engine.end(episode, { reward: i % 2 === 0 });
        }),
      );
      wal = Math.max(wal, statSync(`${path}-wal`).size);
    }
    const ledger = statSync(path).size + statSync(`${path}-wal`).size;
    clock.now += 90 * 86_400_000;
    const before = JSON.stringify((await exportState(engine)).memories.length);
    await compact(engine, { namespace: "default" });
    if (JSON.stringify((await exportState(engine)).memories.length) !== before)
      throw new Error("compaction changed what was learned");
    const copy = join(folder, "copy.db");
    await store.backup(copy);
    await engine.close();
    return { wal, ledger, compacted: statSync(copy).size };
  });
}

export const bounds: Harness = {
  name: "bounds",
  alone: true,
  async run(size): Promise<readonly CheckResult[]> {
    const acknowledge: Store["commit"] = async (_, entries) =>
      entries.map((__, i) => ({ status: "committed", seq: i + 1 }));
    const healthy = await neverEnded(RUNS[size], acknowledge);
    const mutant = await neverEnded(RUNS.quick, acknowledge, { maxOpenEpisodes: 10 * RUNS.quick });
    const hanging = await neverEnded(RUNS[size], () => new Promise(() => undefined));
    const { wal, ledger, compacted } = await growth(OUTCOMES[size]);
    const mib = (bytes: number): string => `${(bytes / MIB).toFixed(1)} MiB`;
    const inBounds = ({ open, bytes }: typeof healthy): boolean => open <= 11_200 && bytes <= OPEN_BYTES;
    return [
      {
        promise: "R11",
        what: "runs that nobody ends, store well",
        tried: `${RUNS[size].toLocaleString("en")} runs`,
        seen: `${healthy.open.toLocaleString("en")} open, ${mib(healthy.bytes)}`,
        held: inBounds(healthy),
      },
      {
        promise: "R11",
        what: "runs that nobody ends, store never answers",
        tried: `${RUNS[size].toLocaleString("en")} runs`,
        seen: `${hanging.open.toLocaleString("en")} open, ${mib(hanging.bytes)}`,
        held: inBounds(hanging),
      },
      {
        promise: "R15",
        what: "SQLite's log while outcomes are recorded",
        tried: `${OUTCOMES[size].toLocaleString("en")} outcomes`,
        seen: `at most ${mib(wal)}`,
        held: wal <= WAL_BYTES,
      },
      {
        promise: "R15",
        what: "the ledger's files before and after everything in it was compacted",
        tried: `${OUTCOMES[size].toLocaleString("en")} outcomes`,
        seen: `${mib(ledger)}, then ${mib(compacted)}`,
        held: compacted < 0.6 * ledger,
      },
      mutantResult({
        what: "keeps every run open",
        tried: `${RUNS.quick.toLocaleString("en")} runs`,
        seen: `${mutant.open.toLocaleString("en")} open, ${mib(mutant.bytes)}`,
        held: !inBounds(mutant),
      }),
    ];
  },
};
