import { NAME } from "../engine/check.js";
import { type EngineParts, partsOf } from "../engine/parts.js";
import type { Engine } from "../engine/types.js";
import { assertConditionsGiven, checkFields, FINITE, type FieldRules, SWITCH, whole } from "../errors/field-rules.js";
import { QavrError } from "../errors/qavr-error.js";
import type { RevokeEvent } from "../ledger/events.js";
import { collectionOf } from "../ledger/state-keys.js";
import { commitEvent, reducerOf } from "./commit-event.js";
import { LedgerReplay } from "./ledger-replay.js";
import { PROGRESS, type Progress } from "./progress.js";
import { quarantine, quarantining, TOGETHER, TouchedMemories } from "./quarantine.js";
import { rebuild } from "./rebuild.js";
import type { RevocationReport } from "./reports.js";

/** Which outcomes to revoke. At least one condition besides the namespace; all that are named hold, and ranges include their ends. */
export interface RevokeOptions {
  readonly namespace: string;
  /** Outcomes of this source. */
  readonly source?: string;
  /** Outcomes reported from here on, Unix ms. */
  readonly from?: number;
  /** Outcomes reported up to here, Unix ms. */
  readonly to?: number;
  /** Outcomes from this place in the ledger on. */
  readonly fromSeq?: number;
  /** Outcomes up to this place in the ledger. */
  readonly toSeq?: number;
  /** Only says what would change. @default false */
  readonly dryRun?: boolean | undefined;
  readonly progress?: Progress | undefined;
}

const TIME = [FINITE[0], "a time in Unix ms"] as const;
const PLACE = whole(1, Number.MAX_SAFE_INTEGER);
const CONDITIONS = { source: NAME, from: TIME, to: TIME, fromSeq: PLACE, toSeq: PLACE };
const RULES: FieldRules<RevokeOptions> = { namespace: NAME, ...CONDITIONS, dryRun: SWITCH, progress: PROGRESS };

/**
 * Takes outcomes out of learning for good: records which, and builds the states again without them, as if they had never been
 * given. Until a memory that they have taught is built again, it ranks as unknown. The ledger keeps the outcomes. Later outcomes
 * count, also those of the same source.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, LEARNER_MISMATCH, STORE_BUSY (then it is recorded, and
 * `replay(engine, { write: true })` completes it), and the store's codes
 */
export async function revoke(engine: Engine, options: RevokeOptions): Promise<RevocationReport> {
  const parts = partsOf(engine);
  const event = checkRevocation(options);
  return parts.tasks.track(revokeNow(parts, event, options));
}

async function revokeNow(
  parts: EngineParts,
  event: RevokeEvent,
  { namespace, dryRun = false, progress }: RevokeOptions,
): Promise<RevocationReport> {
  const { store, states, learner, log } = parts;
  const stats = await states.ownStats(namespace);
  if (!stats) return { namespace, checkpoint: 0, outcomes: 0, episodes: 0, memories: 0, seq: 0, dryRun };
  const seq = dryRun ? Number.POSITIVE_INFINITY : await record(parts, namespace, event, progress);
  const replay = new LedgerReplay({ store, namespace, learner, planned: { event, seq }, progress });
  const { differences } = await rebuild(parts, namespace, replay, !dryRun);
  const revoked = replay.revocations.revokedBy(seq);
  const report = {
    namespace,
    checkpoint: replay.checkpoint,
    outcomes: revoked?.outcomes ?? 0,
    episodes: revoked?.episodes.size ?? 0,
    memories: differences.filter(({ scope }) => collectionOf(scope) !== undefined).length,
  };
  if (dryRun) return { ...report, seq: 0, dryRun };
  log("info", "Outcomes were revoked and what they taught was taken out.", {
    code: "OUTCOMES_REVOKED",
    ...report,
    seq,
  });
  return { ...report, seq, dryRun };
}

/** Records a revocation. The memories that its outcomes have taught are unknown to rankings from then on until they are rebuilt. */
async function record(
  parts: EngineParts,
  namespace: string,
  event: RevokeEvent,
  progress: Progress | undefined,
): Promise<number> {
  const { store } = parts;
  const touched = new TouchedMemories(parts, namespace, event);
  const memories = await touched.upTo(await store.head(namespace), progress);
  const reduce = quarantining(reducerOf(parts), memories.slice(0, TOGETHER));
  const seq = await commitEvent(parts, namespace, event, reduce);
  await quarantine(parts, namespace, [...memories.slice(TOGETHER), ...(await touched.upTo(seq - 1))]);
  return seq;
}

/** @throws INVALID_ARGUMENT without a condition, for one that is undefined or unknown, or for an empty range; INVALID_ID, LIMIT_EXCEEDED */
function checkRevocation(options: RevokeOptions): RevokeEvent {
  checkFields("revoke", options, RULES, ["namespace"]);
  assertConditionsGiven(options, "revoke", Object.keys(CONDITIONS));
  const { source, from, to, fromSeq, toSeq } = options;
  if ([source, from, to, fromSeq, toSeq].every((condition) => condition === undefined)) {
    throw new QavrError(
      "INVALID_ARGUMENT",
      "A revocation needs a source, a time or a place: source, from, to, fromSeq or toSeq. To erase everything, call forget(engine, { namespace }).",
    );
  }
  const event: RevokeEvent = {
    type: "revoke",
    source,
    from: from ?? Number.NEGATIVE_INFINITY,
    to: to ?? Number.POSITIVE_INFINITY,
    fromSeq: fromSeq ?? 1,
    toSeq: toSeq ?? Number.POSITIVE_INFINITY,
  };
  checkRange("from", event.from, "to", event.to);
  checkRange("fromSeq", event.fromSeq, "toSeq", event.toSeq);
  return event;
}

function checkRange(lowName: string, low: number, highName: string, high: number): void {
  if (low > high) {
    throw new QavrError("INVALID_ARGUMENT", `${lowName} (${low}) lies after ${highName} (${high}). Exchange them.`, {
      details: { [lowName]: low, [highName]: high },
    });
  }
}
