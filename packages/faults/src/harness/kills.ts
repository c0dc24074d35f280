import { join } from "node:path";
import { createEngine } from "@qavr/core";
import { verify } from "@qavr/core/maintenance";
import { type Random, seededRandom } from "@qavr/lab";
import { sqliteStore } from "@qavr/sqlite";
import { type CheckResult, type Harness, mutantResult } from "./check.js";
import { type Recorded, recordInProcess } from "./recording-process.js";
import { record, retry } from "./runs.js";
import { inFolder } from "./workspace.js";

const KILLS = { quick: 40, full: 1_000 } as const;
/** Several ledgers, so that some kills meet the creation of the file. */
const KILLS_PER_LEDGER = 15;
/** At the same time, on ledgers of their own. */
const LANES = 2;

export interface KillTally {
  kills: number;
  acknowledged: number;
  /** Acknowledged, and not in the ledger afterwards. */
  lost: number;
  /** In the ledger although its process never heard so: what a retry would count twice. */
  unheard: number;
  /** Retries that were not answered with the first place. */
  doubled: number;
  /** Ledgers that did not verify, or whose outcomes did not add up, at the end. */
  broken: number;
}

const emptyTally = (): KillTally => ({ kills: 0, acknowledged: 0, lost: 0, unheard: 0, doubled: 0, broken: 0 });

/** Opens the ledger after a kill, asks for every outcome again and completes what was cut off. */
async function recover(path: string, { started, acknowledged }: Recorded, tally: KillTally): Promise<void> {
  const engine = createEngine({ store: sqliteStore(path) });
  for (const run of started) {
    const known = await retry(engine, run);
    const seq = acknowledged.get(run);
    if (seq !== undefined && known === undefined) tally.lost++;
    if (seq !== undefined && known !== undefined && (known.status !== "duplicate" || known.seq !== seq))
      tally.doubled++;
    if (seq === undefined && known?.status === "duplicate") tally.unheard++;
    const first = known ?? (await record(engine, run));
    const again = await retry(engine, run);
    if (again?.status !== "duplicate" || again.seq !== first?.seq) tally.doubled++;
  }
  tally.kills++;
  tally.acknowledged += acknowledged.size;
  await engine.close();
}

/** Kills processes that record into one ledger, one after the other, and checks the whole ledger at the end. */
async function killRepeatedly(path: string, kills: number, random: Random, tally: KillTally): Promise<void> {
  let next = 0;
  for (let kill = 0; kill < kills; kill++) {
    // The first kill, and now and then a later one, comes at any moment of the start: loading, creating, migrating, recovering.
    const early = kill === 0 || random() < 0.1;
    const run = await recordInProcess({
      path,
      first: next,
      after: early ? "start" : "first acknowledgement",
      delay: early ? 20 + 100 * random() : 25 * random(),
      interrupt: (pid) => process.kill(pid, "SIGKILL"),
      // A third of the processes also compact the ledger and back it up.
      ...(random() < 0.33 ? { mode: "compact" } : {}),
    });
    await recover(path, run, tally);
    next = Math.max(next, ...run.started.map((started) => started + 1));
  }
  const engine = createEngine({ store: sqliteStore(path) });
  const { outcomes, taught } = await engine.status();
  if (outcomes.user !== next || taught !== next || !(await verify(engine)).ok) tally.broken++;
  await engine.close();
}

/** Kills that many processes with SIGKILL while they record outcomes. @returns the tally with their counts added */
async function killProcesses(kills: number, tally: KillTally = emptyTally()): Promise<KillTally> {
  await inFolder(async (folder) => {
    const ledgers = Array.from({ length: Math.ceil(kills / KILLS_PER_LEDGER) }, (_, seed) => ({
      path: join(folder, `${seed}.db`),
      seed,
      kills: Math.min(KILLS_PER_LEDGER, kills - seed * KILLS_PER_LEDGER),
    }));
    const lane = async (): Promise<void> => {
      for (let ledger = ledgers.pop(); ledger; ledger = ledgers.pop()) {
        await killRepeatedly(ledger.path, ledger.kills, seededRandom(ledger.seed), tally);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  });
  return tally;
}

/** Kills processes whose store acknowledges before it commits, until one is seen to have lost something. */
async function killEarlyAcknowledgers(limit: number): Promise<KillTally> {
  const tally = emptyTally();
  const random = seededRandom(1);
  while (tally.lost === 0 && tally.kills < limit) {
    await inFolder(async (folder) => {
      const path = join(folder, "ledger.db");
      const run = await recordInProcess({
        path,
        first: 0,
        after: "first acknowledgement",
        delay: 15 * random(),
        mode: "early",
        interrupt: (pid) => process.kill(pid, "SIGKILL"),
      });
      await recover(path, run, tally);
    });
  }
  return tally;
}

export const kills: Harness = {
  name: "process kills",
  async run(size): Promise<readonly CheckResult[]> {
    const tally = await killProcesses(KILLS[size]);
    // Few kills come between a commit and its acknowledgement, the fewer the faster the disk.
    for (let more = 0; tally.unheard === 0 && more < 5; more++) await killProcesses(KILLS.quick, tally);
    const mutant = await killEarlyAcknowledgers(200);
    return [
      {
        promise: "R1",
        what: "SIGKILL to processes that record, compact and back up (SQLite)",
        tried: `${tally.kills} kills, ${tally.acknowledged} acknowledged outcomes`,
        seen: `${tally.lost} lost, ${tally.broken} ledgers that do not verify or add up`,
        held: tally.lost === 0 && tally.broken === 0 && tally.acknowledged > tally.kills,
      },
      {
        promise: "R4",
        what: "asking again after a kill",
        tried: `${tally.unheard} outcomes that were recorded and whose process never heard so`,
        seen: `${tally.doubled} counted twice`,
        held: tally.doubled === 0 && tally.unheard > 0,
      },
      mutantResult({
        what: "acknowledges before it commits",
        tried: `${mutant.kills} kills`,
        seen: `${mutant.lost} lost outcomes seen`,
        held: mutant.lost > 0,
      }),
    ];
  },
};
