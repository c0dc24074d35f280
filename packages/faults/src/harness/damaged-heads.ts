import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createEngine, type Engine, QavrError } from "@qavr/core";
import { repair, verify } from "@qavr/core/maintenance";
import { bytesToName, sealState } from "@qavr/core/store";
import { seededRandom } from "@qavr/lab";
import { sqliteStore } from "@qavr/sqlite";
import { type CheckResult, type Harness, mutantResult } from "./check.js";
import { flipOneBit } from "./flip-one-bit.js";
import { learnedText } from "./learned-text.js";
import { outcomeOf, rankFor } from "./runs.js";
import { inFolder } from "./workspace.js";

const FLIPS = { quick: 10, full: 100 } as const;
const STATE_FLIPS = { quick: 15, full: 150 } as const;
const RUNS = 120;
/** Scores depend on the age of what was learned. */
const NOW = 1_767_225_600_000;
/** Numbers of places are counts: bits above these never stood for anything. */
const HEAD_BITS = 32;

interface Source {
  readonly path: string;
  readonly learned: string;
  /** Ranking of a request that nothing was damaged for. */
  readonly ranking: string;
}

function copy(from: string, to: string): void {
  for (const suffix of ["", "-wal", "-shm", "-mark"]) rmSync(to + suffix, { force: true });
  copyFileSync(from, to);
}

async function rankingOf(engine: Engine): Promise<string> {
  const { items, degraded } = await rankFor(engine, 7, false);
  return JSON.stringify([degraded, items.map(({ id, score }) => [id, score])]);
}

async function learn(path: string): Promise<Source> {
  const engine = createEngine({ store: sqliteStore(path), clock: () => NOW });
  for (let run = 0; run < RUNS; run++) {
    const { episode } = await rankFor(engine, run);
    await engine.end(episode, outcomeOf(run));
  }
  const source = { path, learned: await learnedText(engine), ranking: await rankingOf(engine) };
  await engine.close();
  return source;
}

/** Code of a refusal; undefined for an answer. */
async function codeOf(call: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return QavrError.isInstance(error) ? error.code : String(error);
  }
}

/** Flips a bit of a namespace's head, in its place or its digest, and tries to record on top of it. */
async function flipHeads(folder: string, source: Source, flips: number): Promise<readonly CheckResult[]> {
  const random = seededRandom(6);
  const path = join(folder, "head.db");
  let [refused, verified, repaired, unchecked] = [0, 0, 0, 0];
  const wrong = new Set<string>();
  for (let flip = 0; flip < flips; flip++) {
    copy(source.path, path);
    const db = new DatabaseSync(path);
    const { id, head, digest } = db.prepare("SELECT id, head, digest FROM namespace").get() as {
      readonly id: number;
      readonly head: number;
      readonly digest: Uint8Array;
    };
    if (flip % 2 === 0) {
      const flipped = Number(BigInt(head) ^ (1n << BigInt(Math.floor(random() * HEAD_BITS))));
      db.prepare("UPDATE namespace SET head = ? WHERE id = ?").run(flipped, id);
    } else db.prepare("UPDATE namespace SET digest = ? WHERE id = ?").run(flipOneBit(digest, random), id);
    if (db.prepare("PRAGMA integrity_check").get()?.integrity_check === "ok") unchecked += 1;
    db.close();
    const engine = createEngine({ store: sqliteStore(path), clock: () => NOW });
    const { episode } = await rankFor(engine, RUNS);
    const code = await codeOf(() => engine.end(episode, outcomeOf(RUNS)));
    if (code === "STORE_CORRUPT") refused += 1;
    else wrong.add(code ?? "acknowledged");
    const report = await verify(engine);
    if (!report.ok && report.damaged > 0) verified += 1;
    const { after } = await repair(engine);
    if (after.ok && (await engine.end(episode, outcomeOf(RUNS)))?.status === "committed") repaired += 1;
    await engine.close();
  }
  return [
    {
      promise: "R13",
      what: "one flipped bit in a namespace's head, then an outcome (SQLite)",
      tried: `${flips} flips, in place and digest by turns`,
      seen: `${refused} refused with STORE_CORRUPT, ${verified} named by verify, ${repaired} repaired and written on${wrong.size > 0 ? `; others: ${[...wrong].join(", ")}` : ""}`,
      held: refused === flips && verified === flips && repaired === flips,
    },
    mutantResult({
      what: "a head that only SQLite's own check looks at",
      tried: `${flips} flips`,
      seen: `${unchecked} unnoticed`,
      held: unchecked === flips,
    }),
  ];
}

/** A learned state in its row. */
interface StateRow {
  readonly at: number;
  readonly scope: string;
  readonly id: string;
  readonly value: Uint8Array;
}

function learnedStates(path: string): readonly StateRow[] {
  const db = new DatabaseSync(path);
  const rows = db
    .prepare(
      `SELECT state.rowid AS at, scope.name AS scope, state.id, value FROM state JOIN scope ON scope.id = state.scope
       WHERE CAST(scope.name AS TEXT) LIKE 'memory:%' OR CAST(scope.name AS TEXT) = 'shared'`,
    )
    .all() as unknown as readonly {
    readonly at: number;
    readonly scope: Uint8Array;
    readonly id: Uint8Array;
    readonly value: Uint8Array;
  }[];
  db.close();
  return rows.map(({ at, scope, id, value }) => ({ at, scope: bytesToName(scope), id: bytesToName(id), value }));
}

/** Puts a value in the place of a state's, or deletes the state. */
function overwrite(path: string, { at }: StateRow, value: Uint8Array | undefined): void {
  const db = new DatabaseSync(path);
  if (value) db.prepare("UPDATE state SET value = ? WHERE rowid = ?").run(value, at);
  else db.prepare("DELETE FROM state WHERE rowid = ?").run(at);
  db.close();
}

/** Flips a bit of one learned state, and compares the ranking that meets it with one that knows nothing of that state. */
async function flipOneState(folder: string, source: Source, flips: number): Promise<readonly CheckResult[]> {
  const random = seededRandom(7);
  const [path, without] = [join(folder, "state.db"), join(folder, "without.db")];
  const rows = learnedStates(source.path);
  let [met, served, logged, rebuilt, servedUnsealed] = [0, 0, 0, 0, 0];
  for (let flip = 0; flip < flips; flip++) {
    const row = rows[Math.floor(random() * rows.length)] as StateRow;
    copy(source.path, without);
    overwrite(without, row, undefined);
    const unknown = await openedFor(without, rankingOf);
    const look = async (value: Uint8Array) => {
      copy(source.path, path);
      overwrite(path, row, value);
      const codes: string[] = [];
      return openedFor(
        path,
        async (engine) => {
          const first = await rankingOf(engine);
          // The rebuild goes on beside the ranking.
          await engine.flush();
          if (!codes.includes("STATE_DAMAGED")) return { first };
          const isRebuilt = (await rankingOf(engine)) === source.ranking && (await verify(engine)).ok;
          return { first, isRebuilt: isRebuilt && (await learnedText(engine)) === source.learned };
        },
        codes,
      );
    };
    const flipped = await look(flipOneBit(row.value, random));
    if (unknown !== source.ranking) met += 1;
    if (flipped.first !== unknown) served += 1;
    if (flipped.isRebuilt !== undefined) logged += 1;
    if (flipped.isRebuilt) rebuilt += 1;
    // The mutant: the checksum is that of the flipped bytes, so the store cannot tell.
    const sealed = sealState(row, flipOneBit(row.value.subarray(0, -4), random));
    const unsealed = await look(sealed).catch(() => undefined);
    if (unsealed && unsealed.first !== unknown && unsealed.first !== source.ranking) servedUnsealed += 1;
  }
  return [
    {
      promise: "R13",
      what: "one flipped bit in a learned state, then a ranking (SQLite)",
      tried: `${flips} flips, ${met} of them in states that move the ranking`,
      seen: `${served} rankings read damage; of ${logged} that met it ${rebuilt} were built again bit for bit`,
      held: served === 0 && logged >= met && rebuilt === logged && met > 0,
    },
    mutantResult({
      what: "states without checksums",
      tried: `${flips} flips`,
      seen: `${servedUnsealed} rankings read damage`,
      held: servedUnsealed > 0,
    }),
  ];
}

/** @param codes gets the codes of the errors that are logged */
async function openedFor<Result>(
  path: string,
  work: (engine: Engine) => Promise<Result>,
  codes: string[] = [],
): Promise<Result> {
  const logger = { error: (_: string, { code }: { readonly code: string }) => void codes.push(code) };
  const engine = createEngine({ store: sqliteStore(path), logger, clock: () => NOW });
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

export const damagedHeads: Harness = {
  name: "damaged heads and states",
  async run(size): Promise<readonly CheckResult[]> {
    return inFolder(async (folder) => {
      const source = await learn(join(folder, "source.db"));
      return [
        ...(await flipHeads(folder, source, FLIPS[size])),
        ...(await flipOneState(folder, source, STATE_FLIPS[size])),
      ];
    });
  },
};
