import { NAME } from "../engine/check.js";
import { type EngineParts, partsOf } from "../engine/parts.js";
import { checkpointOf } from "../engine/status.js";
import type { Engine } from "../engine/types.js";
import { checkFields, type FieldRules } from "../errors/field-rules.js";
import { QavrError } from "../errors/qavr-error.js";
import { decodeEpisode } from "../ledger/episode-record.js";
import { SCOPES, textOfValue } from "../ledger/state-keys.js";
import { stateAddress } from "../store/state-address.js";
import type { CheckpointChange, StateRef, Store } from "../store/store.js";
import { isSame } from "./differences.js";
import { type Fold, LedgerReplay } from "./ledger-replay.js";
import { PROGRESS, type Progress } from "./progress.js";
import { settle, TAIL } from "./rebuild.js";
import type { CompactionReport } from "./reports.js";

/** Which part of a ledger to drop. */
export interface CompactOptions {
  readonly namespace: string;
  /**
   * Entries that are older than this go, ms. Entries before the new beginning can be neither revoked nor evaluated any more.
   * @default the engine's outcomeWindow, 30 days
   */
  readonly olderThan?: number | undefined;
  readonly progress?: Progress | undefined;
}

const RULES: FieldRules<CompactOptions> = {
  namespace: NAME,
  olderThan: [(value) => typeof value === "number" && value >= 0, "at least 0 ms"],
  progress: PROGRESS,
};
const PAGE = 1_000;
/** States of past episodes that are dropped at once. */
const TOGETHER = 500;
/** How often a compaction starts again because the ledger changed meanwhile. */
const ATTEMPTS = 5;

type CompactionParts = EngineParts & Pick<CompactOptions, "progress">;

/**
 * Drops the beginning of a namespace's ledger and keeps the states that it led to as a checkpoint; what was learned stays bit for
 * bit. Replay, revocation and evaluation reach back to the checkpoint from then on. Records of episodes that accept no outcome any
 * more go, too. A few entries go at a time, so that writers never wait long; a compaction that was cut short has dropped some of
 * them, and the next one goes on.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, LEARNER_MISMATCH, INVALID_STATE when the states do not follow from the ledger,
 * STORE_BUSY, UNSUPPORTED, and the store's codes
 */
export async function compact(engine: Engine, options: CompactOptions): Promise<CompactionReport> {
  const parts = partsOf(engine);
  const { store, outcomeWindow } = parts;
  // With a misspelt age, the default age would decide which entries are dropped for good.
  checkFields("compact", options, RULES, ["namespace"]);
  const { namespace, olderThan = outcomeWindow, progress } = options;
  if (!store.readCheckpoint) {
    throw new QavrError("UNSUPPORTED", `The ${store.name} store cannot compact a ledger. Use one that can.`, {
      details: { store: store.name },
    });
  }
  const now = parts.now();
  return parts.tasks.track(compactNow({ ...parts, progress }, namespace, { cutoff: now - olderThan, now }));
}

/** Unix ms. */
interface Times {
  /** Older entries go. */
  readonly cutoff: number;
  readonly now: number;
}

async function compactNow(parts: CompactionParts, namespace: string, times: Times): Promise<CompactionReport> {
  const { store, states, outcomeWindow, log } = parts;
  const { cutoff } = times;
  const place = await lastBefore(store, namespace, times);
  if (place) await states.ownStats(namespace);
  for (let attempt = 0; place && attempt < ATTEMPTS; attempt++) {
    const report =
      (await tryOnce(parts, namespace, place, cutoff - outcomeWindow)) ?? (await tryOnce(parts, namespace, place));
    if (!report) continue;
    log("info", "The beginning of a ledger was compacted.", { code: "LEDGER_COMPACTED", ...report });
    return report;
  }
  if (place) throw busy(namespace);
  const checkpoint = await checkpointOf(store, namespace);
  return { namespace, checkpoint, dropped: 0, entries: (await store.head(namespace)) - checkpoint, episodes: 0 };
}

/**
 * Returns undefined when the ledger was compacted, erased or revoked from meanwhile, or when a later entry names an episode that should
 * have been over.
 *
 * @param past Unix ms: records of episodes whose last exposure came earlier go, too; undefined: none do
 */
async function tryOnce(
  parts: CompactionParts,
  namespace: string,
  { first, last }: { readonly first: number; readonly last: number },
  past?: number,
): Promise<CompactionReport | undefined> {
  const { store, learner, progress } = parts;
  const replay = new LedgerReplay({ store, namespace, learner, progress });
  /** The fold, and the states of episodes that were over at the place up to which entries go. */
  let taken: { readonly fold: Fold; readonly dropped: readonly StateRef[] } | undefined;
  const take = (fold: Fold): readonly StateRef[] => {
    if (taken?.fold === fold) return taken.dropped;
    const dropped = past === undefined ? [] : statesOfPast(fold, past);
    for (const ref of dropped) fold.drop(ref);
    taken = { fold, dropped };
    return dropped;
  };
  const fold = await replay.advance((entry, current) => {
    if (entry.seq > last) take(current);
  });
  const dropped = take(fold);
  // All entries are checked first: dropped ones cannot be folded again.
  const differences = await settle(parts, namespace, replay, false);
  const gone = new Set(dropped.map(stateAddress));
  const unexpected = differences?.find((ref) => !gone.has(stateAddress(ref)));
  // Clocks may lie: an outcome may have come to an episode that was over by the time on its entries.
  if (!differences || (unexpected && dropped.length > 0) || (await replay.advance()) !== fold) return undefined;
  if (unexpected) throw notFollowing(namespace, unexpected);
  for await (const checkpoint of replay.beginnings(last)) {
    if (!(await writeAtHead(store, namespace, replay, fold, [], checkpoint))) return undefined;
  }
  for (let start = 0; start < dropped.length; start += TOGETHER) {
    const some = dropped.slice(start, start + TOGETHER);
    const checkpoint = { seq: last, states: some.map((ref) => ({ ...ref, value: null })) };
    if (!(await writeAtHead(store, namespace, replay, fold, some, checkpoint))) return undefined;
  }
  return {
    namespace,
    checkpoint: last,
    dropped: last - first + 1,
    entries: fold.entries - last,
    episodes: dropped.filter(({ scope }) => scope === SCOPES.episode).length,
  };
}

/**
 * Writes the fold's states and a checkpoint while the stored states follow from the fold. Returns false, having written nothing, when they
 * do not any more.
 */
async function writeAtHead(
  store: Store,
  namespace: string,
  replay: LedgerReplay,
  fold: Fold,
  written: readonly StateRef[],
  checkpoint: CheckpointChange,
): Promise<boolean> {
  const touched = new Map<string, StateRef>();
  for (;;) {
    let isCurrent = false;
    const done = await store.atHead(namespace, {
      after: fold.entries,
      limit: TAIL,
      write: true,
      checkpoint,
      *work(entries, head) {
        isCurrent = replay.follow(entries, head);
        if (!isCurrent) return undefined;
        // The states of the last entries, too, must be equal in store and fold.
        for (const ref of fold.takeTouched()) touched.set(stateAddress(ref), ref);
        const refs = [...touched.values()];
        const stored = yield refs;
        isCurrent = refs.every((ref, place) => isSame(stored[place], fold.state(ref)));
        if (!isCurrent) return undefined;
        return { states: written.map((ref) => ({ ...ref, value: fold.state(ref) ?? null })) };
      },
    });
    if (done) return isCurrent;
    const { entries } = fold;
    if ((await replay.advance()) !== fold || fold.entries === entries) return false;
  }
}

/**
 * Returns the places of the first entry and of the last one that goes; undefined when there is none to drop. Entries from the future
 * are of a clock that ran ahead for a while: they are as old as those after them, and keep none of them.
 */
async function lastBefore(
  store: Store,
  namespace: string,
  { cutoff, now }: Times,
): Promise<{ readonly first: number; readonly last: number } | undefined> {
  let first: number | undefined;
  let last: number | undefined;
  for (let after = 0; ; ) {
    const page = await store.readEntries(namespace, { after, limit: PAGE });
    const young = page.findIndex(({ at }) => at >= cutoff && at <= now);
    const old = young === -1 ? page : page.slice(0, young);
    first ??= old[0]?.seq;
    last = old.findLast(({ at }) => at < cutoff)?.seq ?? last;
    after = old.at(-1)?.seq ?? after;
    if (old.length === page.length && page.length === PAGE) continue;
    return first === undefined || last === undefined ? undefined : { first, last };
  }
}

/**
 * Records and aliases of episodes that accept no report any more: not suspended, and not among those that learners visit again.
 *
 * @param before Unix ms: their last exposure came earlier
 */
function statesOfPast(fold: Fold, before: number): StateRef[] {
  const valuesOf = (scope: string): readonly { readonly id: string; readonly value: Uint8Array }[] =>
    [...(fold.states.scopes.get(scope) ?? [])].flatMap(([id, value]) => (value ? [{ id, value }] : []));
  const visited = new Set(valuesOf(SCOPES.revisit).map(({ value }) => textOfValue(value)));
  const past = valuesOf(SCOPES.episode).filter(({ id, value }) => {
    const { state, lastAt } = decodeEpisode(value);
    return !visited.has(id) && state !== "suspended" && lastAt < before;
  });
  const ids = new Set(past.map(({ id }) => id));
  const aliases = valuesOf(SCOPES.alias).filter(({ value }) => ids.has(textOfValue(value)));
  return [
    ...past.map(({ id }) => ({ scope: SCOPES.episode, id })),
    ...aliases.map(({ id }) => ({ scope: SCOPES.alias, id })),
  ];
}

function notFollowing(namespace: string, { scope, id }: StateRef): QavrError {
  return new QavrError(
    "INVALID_STATE",
    `State ${scope}/${id} of namespace ${namespace} does not follow from its ledger, so the entries cannot be dropped. Call verify(engine) and repair(engine) first.`,
    { details: { namespace, state: `${scope}/${id}` } },
  );
}

function busy(namespace: string): QavrError {
  return new QavrError(
    "STORE_BUSY",
    `Namespace ${namespace} was compacted, revoked from or erased during each of ${ATTEMPTS} compactions. Call compact(engine, …) again.`,
    { details: { namespace } },
  );
}
