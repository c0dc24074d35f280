import { type ErrorCode, QavrError } from "@qavr/core";
import { checkLoop, readLoop } from "@qavr/core/adapter";
import { type Progress, repair } from "@qavr/core/maintenance";
import { EXIT, exitCodeOf } from "../exit-codes.js";
import { type Ledger, type LedgerOptions, largestOf, openLedger } from "../open-ledger.js";
import { assertSameOptions, verifyHere } from "../untold-options.js";
import { CHECKS, looksSplit } from "./doctor-checks.js";
import type { Finding } from "./finding.js";
import { withoutRevoked } from "./judged-runs.js";

export interface DoctorReport {
  /** Place of the ledger; absent when it could not be opened. */
  readonly store?: string;
  readonly namespace?: string;
  readonly findings: readonly Finding[];
  /** Ids of the findings that `--fix` has repaired. */
  readonly fixed: readonly string[];
  /** Runs that the namespace has recorded; most checks need 50. */
  readonly runs: number;
  /** Entries that the checks have looked at. */
  readonly entries: number;
  /** False for a ledger that is too long to be verified on the way: `qavr ledger verify` does it. */
  readonly verified: boolean;
}

/** Result of checking the ledger itself. */
export interface StorageReport {
  /** Entries that the namespace keeps, and the place of the last one that was compacted away. */
  readonly entries: number;
  readonly checkpoint: number;
  /** False for a ledger that is too long to be verified on the way. */
  readonly verified: boolean;
  readonly findings: readonly Finding[];
}

/** Entries at the end of the ledger that are looked at. */
const LOOKED_AT = 1_000;
/** Memories of a collection that are looked at, those of the latest entries first. */
const MOST_IDS = 10_000;
/** Ledgers up to this length are verified, too: about a second. */
const VERIFIED = 10_000;

/**
 * Checks whether the loop is closed: outcomes arrive, ids match, rewards and similarities tell memories apart, and the ledger is whole.
 *
 * @param fix repairs faults that need no decision: damaged indexes and states, and an interrupted revocation
 */
export async function doctorReport(
  options: LedgerOptions,
  fix: boolean,
  now: number,
  progress: Progress | undefined,
): Promise<DoctorReport> {
  try {
    return await doctorOn(options, fix, now, progress);
  } catch (error) {
    // A ledger that cannot be read is a finding like others; a wrong option is not.
    if (!QavrError.isInstance(error) || exitCodeOf(error) < EXIT.conflict) throw error;
    if (fix && isDamagedState(error)) {
      await repairAll(options, progress);
      const report = await doctorReport(options, false, now, progress);
      const { id } = unreadable(error);
      return report.findings.some((left) => left.id === id) ? report : { ...report, fixed: [id] };
    }
    return { findings: [unreadable(error)], fixed: [], runs: 0, entries: 0, verified: false };
  }
}

async function doctorOn(
  options: LedgerOptions,
  fix: boolean,
  now: number,
  progress: Progress | undefined,
): Promise<DoctorReport> {
  const ledger = await openLedger(options, "read");
  try {
    const report = await examine(ledger, now);
    const mendable = report.findings.filter(({ id }) => id === "ledger-damage" || id === "rebuild-pending");
    if (!fix || mendable.length === 0) return report;
    await repairAll({ ...options, namespace: ledger.namespace }, progress);
    const after = await examine(ledger, now);
    const left = new Set(after.findings.map(({ id }) => id));
    return { ...after, fixed: mendable.map(({ id }) => id).filter((id) => !left.has(id)) };
  } finally {
    await ledger.close();
  }
}

async function repairAll(options: LedgerOptions, progress: Progress | undefined): Promise<void> {
  const { engine, close } = await openLedger(options, "write");
  try {
    await assertSameOptions(engine);
    await repair(engine, { progress });
  } finally {
    await close();
  }
}

/** Findings about an open ledger. */
async function examine(ledger: Ledger, now: number): Promise<DoctorReport> {
  const report = await examineLoop(ledger, now);
  const { verified, findings } = await examineStorage(ledger);
  return { ...report, findings: [...report.findings, ...findings], verified };
}

/** Findings about the loop, from outcomes, ids and rankings. */
export async function examineLoop(ledger: Ledger, now: number): Promise<DoctorReport> {
  const { engine, store, place, namespace } = ledger;
  const head = await store.head(namespace);
  const status = await engine.status({ namespace });
  const sample =
    status.learner === engine.learner.id
      ? await readLoop(engine, namespace, head, LOOKED_AT)
      : await withoutStates(ledger, head);
  const runs = status.episodes.recorded;
  const { events } = sample;
  const exposures = events.flatMap((event) => (event.type === "exposure" ? event.exposures : [])).reverse();
  const known = await Promise.all(
    status.collections.map(async ({ collection }) => {
      const own = exposures.filter((exposure) => exposure.collection === collection);
      const ids = new Set(own.flatMap(({ items, notShown }) => [...items, ...notShown].map(({ id }) => id)));
      const page = await engine.memories({ namespace, collection, ids: [...ids].slice(0, MOST_IDS) });
      return page.memories.map((memory) => ({ ...memory, collection }));
    }),
  );
  const facts = {
    events,
    status,
    memories: known.flat(),
    namespaces: ledger.namespaces.length,
    mostRuns: looksSplit(ledger.namespaces.length, runs) ? await runsOfLargest(ledger) : runs,
    now,
  };
  const findings: Finding[] = checkLoop({ ...sample, events: withoutRevoked(events) }).map(
    ({ code, finding, fix }) => ({
      id: code.toLowerCase().replaceAll("_", "-"),
      finding,
      fix,
    }),
  );
  findings.push(...CHECKS.flatMap((check) => check(facts) ?? []));
  return { store: place, namespace, findings, fixed: [], runs, entries: events.length, verified: false };
}

async function runsOfLargest({ engine, store, namespace, namespaces }: Ledger): Promise<number> {
  const largest = (await largestOf(store, namespaces)) ?? namespace;
  return (await engine.status({ namespace: largest })).episodes.recorded;
}

/** The latest entries alone, where the learner of the application wrote the states. */
async function withoutStates({ engine, namespace }: Ledger, head: number): Promise<Parameters<typeof checkLoop>[0]> {
  const { events } = await engine.history({ namespace, after: Math.max(0, head - LOOKED_AT), limit: LOOKED_AT });
  return { events, ids: 0, texts: 0 };
}

/** Compares a ledger that is not too long with its digests. */
export async function examineStorage({ engine, store, namespace }: Ledger): Promise<StorageReport> {
  const { checkpoint, rebuildPending } = await engine.status({ namespace });
  const entries = (await store.head(namespace)) - checkpoint;
  if (entries > VERIFIED || rebuildPending) return { entries, checkpoint, verified: false, findings: [] };
  const { damaged, differing, unchecked } = await verifyHere(engine, { namespace });
  const isWhole = damaged + differing.length === 0 && unchecked.every(({ reason }) => reason === "LEARNER_MISMATCH");
  const damage: Finding = {
    id: "ledger-damage",
    finding: `${damaged} entries are damaged and ${differing.length} namespaces differ from their ledger.`,
    fix:
      damaged > 0
        ? "Restore a backup: npx qavr ledger restore. npx qavr doctor --fix builds again what follows from whole entries."
        : "npx qavr doctor --fix",
  };
  return { entries, checkpoint, verified: true, findings: isWhole ? [] : [damage] };
}

const FIXES: Partial<Record<ErrorCode, string>> = {
  STORE_UNAVAILABLE:
    "Check the path or the address: --store or QAVR_STORE. Install the package that the message names, or start the server.",
  STORE_DENIED: "Look at the user, the password and the rights of the login.",
  STORE_FOREIGN: "Name the ledger's own path or schema with --store.",
  STORE_CORRUPT:
    "Move the file away with its -wal, -shm and -mark, and restore a backup: npx qavr ledger restore <backup> <file>. For PostgreSQL, restore the database. Without a backup, npx qavr ledger export may still read what was learned; import it into a new ledger.",
  STORE_NEWER_SCHEMA: "Install the version of qavr that the application has.",
  STORE_BUSY: "Run it again. If the lock stays, look for a long transaction of another process.",
  STORE_TIMEOUT: "Run it again when the server has less to do.",
  LEARNER_MISMATCH:
    "Learn the ledger again in the application: replay(engine, { write: true }) of @qavr/core/maintenance.",
};

/** For a log or a head of a file that is damaged or lost. */
const REPAIR =
  "npx qavr ledger repair keeps what is whole and gives up what the message calls lost; those outcomes may be reported again. To get everything back, restore a backup: npx qavr ledger restore <backup> <file>.";

/** For a state that is damaged: a backup would lose what came after it. */
const REBUILD = "npx qavr doctor --fix builds it again from the ledger. Nothing is lost.";

/** For a table that was changed, or a trigger. */
const UNDO =
  "Undo the change that the message names, and run npx qavr doctor again. Restore a backup only where that cannot be done.";

/** A ledger that cannot be read, as a finding. */
function unreadable(error: QavrError): Finding {
  const { code, message } = error;
  return {
    id: code.toLowerCase().replaceAll("_", "-"),
    finding: message,
    fix: fixOfDamage(error) ?? FIXES[code] ?? "Read the message, correct what it names, and run npx qavr doctor again.",
  };
}

function isDamagedState({ code, details }: QavrError): boolean {
  return code === "STORE_CORRUPT" && details.state !== undefined;
}

function fixOfDamage(error: QavrError): string | undefined {
  const { changed, lost, path, last } = error.details;
  if (error.code !== "STORE_CORRUPT") return undefined;
  if (isDamagedState(error)) return REBUILD;
  if (changed !== undefined) return UNDO;
  return lost !== undefined || (path !== undefined && last !== undefined) ? REPAIR : undefined;
}
