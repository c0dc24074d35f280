import { createEngine, type Engine, type OutcomeReceipt, QavrError } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { sqliteStore } from "../src/index.js";
import { type KilledRun, killWhileRecording } from "./support/kill-run.js";
import { tempLedger } from "./support/temp-folder.js";

const KILLS = 300;
/** Several ledgers, so that some kills meet the creation of the file. */
const KILLS_PER_LEDGER = 15;
/** At the same time, on ledgers of their own. */
const LANES = 2;

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const outcomeOf = (run: number) => ({ reward: run % 3 !== 0, idempotencyKey: `run-${run}` });

/** Reports a run's outcome once more, as a caller does who never got an answer; undefined: the ledger does not know the run. */
async function retry(engine: Engine, run: number): Promise<OutcomeReceipt | undefined> {
  return engine.report(`run-${run}`, outcomeOf(run)).catch((error: unknown) => {
    if (QavrError.isInstance(error, "UNKNOWN_EPISODE")) return undefined;
    throw error;
  });
}

/** Records a run that the killed process had begun and the ledger does not know. */
async function record(engine: Engine, run: number): Promise<OutcomeReceipt | undefined> {
  const { episode } = await engine.rank({
    text: `request ${run}`,
    candidates: [{ id: `m${run % 40}`, similarity: 0.5 }],
    topK: 1,
    aliases: [`run-${run}`],
  });
  return engine.end(episode, outcomeOf(run));
}

interface Tally {
  kills: number;
  acknowledged: number;
  /** Acknowledged, and not in the ledger afterwards. */
  lost: number;
  /** In the ledger although its process never heard so: what a retry would count twice. */
  unheard: number;
  /** Retries that were not answered with the first place. */
  doubled: number;
}

/** Opens the ledger after a kill, asks for every outcome again and completes what was cut off. */
async function recover(path: string, { started, acknowledged }: KilledRun, tally: Tally): Promise<void> {
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
async function killRepeatedly(path: string, kills: number, random: () => number, tally: Tally): Promise<void> {
  let next = 0;
  for (let kill = 0; kill < kills; kill++) {
    // The first kill, and now and then a later one, comes at any moment of the start: loading, creating, migrating, recovering.
    const early = kill === 0 || random() < 0.1;
    const run = await killWhileRecording({
      path,
      first: next,
      after: early ? "start" : "first acknowledgement",
      delay: early ? 20 + 100 * random() : 25 * random(),
    });
    await recover(path, run, tally);
    next = Math.max(next, ...run.started.map((started) => started + 1));
  }
  const engine = createEngine({ store: sqliteStore(path) });
  const { outcomes, taught } = await engine.status();
  expect({ outcomes: outcomes.user, taught }).toEqual({ outcomes: next, taught: next });
  expect(await engine.replay()).toMatchObject({ identical: true, differences: [] });
  await engine.close();
}

describe("a process killed with SIGKILL while it records outcomes", () => {
  it(`loses no acknowledged outcome and lets none count twice, in ${KILLS} kills`, { timeout: 600_000 }, async () => {
    const tally: Tally = { kills: 0, acknowledged: 0, lost: 0, unheard: 0, doubled: 0 };
    const ledgers = Array.from({ length: KILLS / KILLS_PER_LEDGER }, (_, seed) => ({ path: tempLedger(), seed }));
    const lane = async (): Promise<void> => {
      for (let ledger = ledgers.pop(); ledger; ledger = ledgers.pop()) {
        await killRepeatedly(ledger.path, KILLS_PER_LEDGER, randomNumbers(ledger.seed), tally);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    expect(tally).toMatchObject({ kills: KILLS, lost: 0, doubled: 0 });
    // Otherwise the kills came too early or too late to prove anything.
    expect(tally.acknowledged).toBeGreaterThan(KILLS);
    expect(tally.unheard).toBeGreaterThan(0);
    console.info(tally);
  });

  it("is seen to lose outcomes when its store acknowledges before it commits", { timeout: 240_000 }, async () => {
    const tally: Tally = { kills: 0, acknowledged: 0, lost: 0, unheard: 0, doubled: 0 };
    const random = randomNumbers(1);
    while (tally.lost === 0 && tally.kills < 200) {
      const path = tempLedger();
      const run = await killWhileRecording({
        path,
        first: 0,
        after: "first acknowledgement",
        delay: 15 * random(),
        mode: "early",
      });
      await recover(path, run, tally);
    }
    expect(tally.lost).toBeGreaterThan(0);
  });
});
