import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createEngine, QavrError, type Store } from "@qavr/core";
import { verify } from "@qavr/core/maintenance";
import { sqliteStore } from "@qavr/sqlite";
import { type CheckResult, type Harness, mutantResult } from "./check.js";
import { acknowledgingEarly } from "./mutant-stores.js";
import { type Recorded, type RecordingPlan, recordInProcess } from "./recording-process.js";
import { retry } from "./runs.js";
import { has, inFolder, mayMount, system } from "./workspace.js";

/** Runs that a process records while one of its calls into the kernel fails. */
const RUNS = 30;
/** The n-th call of a kind fails, for every n up to this. */
const CALLS = { quick: 2, full: 60 } as const;
/** Tries after which the mutant counts as missed. */
const MOST_TRIES = 20;

/** Outcomes that were acknowledged and are not in the ledger, or the other way round with a wrong place. */
async function missing(
  path: string,
  acknowledged: ReadonlyMap<number, number>,
): Promise<{ readonly lost: number; readonly ok: boolean }> {
  const engine = createEngine({ store: sqliteStore(path) });
  let lost = 0;
  for (const [run, seq] of acknowledged) {
    const answer = await retry(engine, run).catch(() => undefined);
    if (answer?.status !== "duplicate" || answer.seq !== seq) lost += 1;
  }
  const { ok } = await verify(engine);
  await engine.close();
  return { lost, ok };
}

interface Filled {
  readonly runs: number;
  readonly ranked: number;
  readonly refused: number;
  readonly codes: readonly string[];
  readonly stored: number;
  readonly acknowledged: number;
  readonly resumed: boolean;
  readonly verified: boolean;
}

/** Fills a small file system, frees it, and goes on. */
async function fillDisk(mounted: string, most: number, wrapped: (store: Store) => Store): Promise<Filled> {
  const path = join(mounted, "ledger.db");
  const ballast = join(mounted, "ballast");
  writeFileSync(ballast, new Uint8Array(4 * 1024 * 1024));
  const engine = createEngine({ store: wrapped(sqliteStore(path)) });
  const codes = new Set<string>();
  let [acknowledged, refused, ranked] = [0, 0, 0];
  const run = async (n: number): Promise<void> => {
    const candidates = Array.from({ length: 20 }, (_, i) => ({ id: `m${(n + i) % 60}`, similarity: 0.9 - i / 40 }));
    const { episode, items } = await engine.rank({ text: `request ${n}`, candidates, topK: 4 });
    if (items.length === 4) ranked += 1;
    try {
      await engine.end(episode, { reward: n % 2 === 0 });
      acknowledged += 1;
    } catch (error) {
      refused += 1;
      codes.add(QavrError.isInstance(error) ? error.code : String(error));
    }
  };
  let n = 0;
  while (refused < 20 && n < most) await run(n++);
  const [stored, said, refusedBefore] = [(await engine.status()).outcomes.user, acknowledged, refused];
  rmSync(ballast);
  for (let more = 0; more < 20; more++) await run(n++);
  const { ok } = await verify(engine);
  await engine.close();
  return {
    runs: n,
    ranked,
    refused,
    codes: [...codes],
    stored,
    acknowledged: said,
    resumed: refused === refusedBefore,
    verified: ok,
  };
}

/** Runs `work` with a file system of 8 MiB of its own. */
async function onSmallDisk<T>(work: (mounted: string) => Promise<T>): Promise<T> {
  return inFolder(async (folder) => {
    const mounted = join(folder, "small");
    mkdirSync(mounted);
    system("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", mounted);
    try {
      return await work(mounted);
    } finally {
      system("umount", mounted);
    }
  });
}

export const fullDisk: Harness = {
  name: "full disk",
  obstacle: () => (mayMount() ? undefined : "needs root and mounts"),
  async run(): Promise<readonly CheckResult[]> {
    const filled = await onSmallDisk((mounted) => fillDisk(mounted, 5_000, (store) => store));
    const mutant = await onSmallDisk((mounted) => fillDisk(mounted, 500, acknowledgingEarly));
    const { runs, ranked, refused, codes, stored, acknowledged, resumed, verified } = filled;
    const lost = mutant.acknowledged - mutant.stored;
    return [
      {
        promise: "R14",
        what: "disk full on an 8 MiB tmpfs, then space again",
        tried: `${runs} runs, ${refused} outcomes refused with ${codes.join(", ")}`,
        seen: `${stored} stored of ${acknowledged} acknowledged, ${runs - ranked} rankings failed, writes ${resumed ? "resumed" : "did not resume"}`,
        held:
          refused > 0 &&
          stored === acknowledged &&
          resumed &&
          verified &&
          ranked === runs &&
          codes.join() === "STORE_UNWRITABLE",
      },
      mutantResult({
        what: "acknowledges before it commits, on a full disk",
        tried: `${mutant.runs} runs`,
        seen: `${lost} lost outcomes seen`,
        held: lost > 0,
      }),
    ];
  },
};

const SYSCALLS = [
  { call: "pwrite64", error: "EIO" },
  { call: "pwrite64", error: "ENOSPC" },
  { call: "fsync,fdatasync", error: "EIO" },
] as const;

/** A process that records while the n-th call of a kind fails; undefined when it died of it. */
function recordUnder(
  path: string,
  { call, error }: { readonly call: string; readonly error: string },
  nth: number,
  mode?: RecordingPlan["mode"],
): Promise<Recorded | undefined> {
  const traced = ["-P", path, "-P", `${path}-wal`];
  const injected = ["-e", `inject=${call}:error=${error}:when=${nth}`];
  const under = ["strace", "-f", "-qq", "-o", "/dev/null", ...traced, ...injected];
  return recordInProcess({ path, first: 0, count: RUNS, under, ...(mode ? { mode } : {}) }).catch(() => undefined);
}

/** How many outcomes a process that acknowledges too early is seen to lose, and after how many tries. */
async function loseEarly(): Promise<{ readonly lost: number; readonly tries: number }> {
  for (let nth = 1; nth <= MOST_TRIES; nth++) {
    const lost = await inFolder(async (folder) => {
      const path = join(folder, "ledger.db");
      await sqliteStore(path).close();
      const recorded = await recordUnder(path, SYSCALLS[0], nth, "early");
      return recorded ? (await missing(path, recorded.acknowledged)).lost : 0;
    });
    if (lost > 0) return { lost, tries: nth };
  }
  return { lost: 0, tries: MOST_TRIES };
}

/** Lets one call into the kernel fail, the n-th of its kind, for every n. */
export const ioErrors: Harness = {
  name: "I/O errors",
  obstacle: () => (has("strace", "-f", "-e", "trace=none", "true") ? undefined : "needs strace and the right to trace"),
  async run(size): Promise<readonly CheckResult[]> {
    const results: CheckResult[] = [];
    for (const { call, error } of SYSCALLS) {
      let [acknowledged, refused, lost, broken, died] = [0, 0, 0, 0, 0];
      for (let nth = 1; nth <= CALLS[size]; nth++) {
        await inFolder(async (folder) => {
          const path = join(folder, "ledger.db");
          await sqliteStore(path).close();
          const recorded = await recordUnder(path, { call, error }, nth);
          if (!recorded) {
            died += 1;
            return;
          }
          acknowledged += recorded.acknowledged.size;
          refused += recorded.refused.length;
          const after = await missing(path, recorded.acknowledged);
          lost += after.lost;
          if (!after.ok) broken += 1;
        });
      }
      results.push({
        promise: "R14",
        what: `${error} from the n-th ${call} (strace), each n up to ${CALLS[size]}`,
        tried: `${CALLS[size]} processes, ${acknowledged} acknowledged, ${refused} refused`,
        seen: `${lost} lost, ${broken} ledgers that do not verify, ${died} processes that could not open the ledger`,
        // Otherwise nothing was hit.
        held: lost === 0 && broken === 0 && acknowledged > 0 && refused + died > 0,
      });
    }
    const { lost, tries } = await loseEarly();
    results.push(
      mutantResult({
        what: "acknowledges before it commits, and a write fails",
        tried: `${tries} processes`,
        seen: `${lost} lost outcomes seen`,
        held: lost > 0,
      }),
    );
    return results;
  },
};
