import { OUTCOME_TIERS, type OutcomeTier, QavrError } from "@qavr/core";
import { checkFields, type FieldRule, type FieldRules, FUNCTION, TEXT } from "@qavr/core/adapter";
import { type MemoryHandle, partsOf } from "../memory-parts.js";
import { createdAt, type FeedbackClient, type FeedbackSourceType, type LangSmithFeedback, saidAt } from "./feedback.js";
import { listFeedback } from "./list-feedback.js";
import { type FeedbackReceipt, type FeedbackRules, type FeedbackStatus, recordFeedback } from "./record-feedback.js";
import type { SyncCursor } from "./sync-cursor.js";

/** How long before the cursor a sync looks again. Ms. */
export const DEFAULT_LOOKBACK = 86_400_000;

/** Feedback recorded between two writes of the cursor. */
const CURSOR_INTERVAL = 100;

/** Options of {@link langsmithFeedback}. */
export interface LangSmithFeedbackOptions extends FeedbackRules {
  readonly memory: MemoryHandle;
  /** LangSmith's `Client`. */
  readonly client: FeedbackClient;
  /** Only feedback that came in this way. @default all */
  readonly sources?: readonly FeedbackSourceType[] | undefined;
  /** Remembers how far a sync came. @default this process's memory: the first sync of each process reads everything */
  readonly cursor?: SyncCursor | undefined;
  /**
   * How long before the cursor a sync looks again, ms: for edits, for feedback whose run was not recorded yet, and for feedback that
   * a page lost to a deletion.
   * @default 86,400,000, one day
   */
  readonly lookback?: number | undefined;
}

/** Result of a sync. */
export interface FeedbackSyncReport extends Readonly<Record<Exclude<FeedbackStatus, "ignored">, number>> {
  /** All feedback before this date is recorded. Undefined without any feedback, or while learning is off. */
  readonly cursor: string | undefined;
}

/** Feedback of LangSmith as outcomes. */
export interface LangSmithFeedbackSync {
  /**
   * Records the feedback since the last sync. One sync runs at a time; after an error its records stay and the next one continues from
   * there.
   * @throws the client's errors, and the store's codes
   */
  sync(): Promise<FeedbackSyncReport>;
  /** Records one feedback, as a webhook brings it. @throws INVALID_ARGUMENT for other objects, and the store's codes */
  record(feedback: LangSmithFeedback): Promise<FeedbackReceipt>;
}

/**
 * Turns LangSmith's feedback into outcomes: later judgements of people and evaluators replace the outcome of a run's end, each
 * exactly once however often it is read.
 *
 * @throws INVALID_ARGUMENT
 */
export function langsmithFeedback(options: LangSmithFeedbackOptions): LangSmithFeedbackSync {
  assertFeedbackOptions(options);
  const { memory, client, sources, cursor = inMemory(), lookback = DEFAULT_LOOKBACK, ...rules } = options;
  const parts = partsOf(memory);
  let running: Promise<FeedbackSyncReport> | undefined;

  const sync = async (): Promise<FeedbackSyncReport> => {
    const counts = { recorded: 0, duplicate: 0, silent: 0, unknown: 0, refused: 0, ignored: 0 };
    // Feedback that is read while learning is off must be found again later.
    if (!parts.kit.engine.enabled) return reportOf(counts, undefined);
    let reached = Date.parse((await cursor.read()) ?? "");
    const since = Number.isNaN(reached) ? Number.NEGATIVE_INFINITY : reached - lookback;
    const now = Date.now();
    const filter = { keys: rules.keys && Object.keys(rules.keys), sources };
    const found = await listFeedback(client, filter, since);
    const unread = earliestFrom(found);
    for (const [place, feedback] of found.entries()) {
      counts[(await recordFeedback(parts, feedback, rules)).status] += 1;
      const isLast = place === found.length - 1;
      if (!isLast && (place + 1) % CURSOR_INTERVAL !== 0) continue;
      // Not beyond the earliest feedback that is still unread, nor where a sender's clock is ahead.
      const next = Math.min(saidAt(feedback), unread[place + 1] as number, now);
      if (!(next <= reached) && Number.isFinite(next)) {
        await cursor.write(new Date(next).toISOString());
        reached = next;
      }
    }
    return reportOf(counts, Number.isNaN(reached) ? undefined : new Date(reached).toISOString());
  };

  return {
    sync() {
      running ??= sync().finally(() => {
        running = undefined;
      });
      return running;
    },
    async record(feedback) {
      if (typeof feedback?.id !== "string" || typeof feedback.key !== "string") {
        throw new QavrError(
          "INVALID_ARGUMENT",
          "A feedback has an id, a key and the id of its run. Pass what LangSmith sent.",
        );
      }
      return recordFeedback(parts, feedback, rules);
    },
  };
}

/** For each place, and the one after the last, when the earliest feedback from there on was created. */
function earliestFrom(found: readonly LangSmithFeedback[]): number[] {
  const earliest = new Array<number>(found.length + 1).fill(Number.POSITIVE_INFINITY);
  for (let place = found.length - 1; place >= 0; place--) {
    const created = createdAt(found[place] as LangSmithFeedback);
    earliest[place] = Math.min(
      earliest[place + 1] as number,
      Number.isNaN(created) ? Number.POSITIVE_INFINITY : created,
    );
  }
  return earliest;
}

function reportOf(
  { ignored, ...counts }: Record<FeedbackStatus, number>,
  cursor: string | undefined,
): FeedbackSyncReport {
  return { ...counts, cursor };
}

function inMemory(): SyncCursor {
  let kept: string | undefined;
  return {
    read: async () => kept,
    write: async (cursor) => {
      kept = cursor;
    },
  };
}

const isName = (name: unknown): boolean => TEXT[0](name, "");
/** An empty list would never find a run. */
const isFilled = (names: unknown): names is unknown[] => Array.isArray(names) && names.length > 0;
const isReward = (reward: unknown): boolean =>
  typeof reward === "boolean" || (typeof reward === "number" && reward >= 0 && reward <= 1);

const READING: FieldRule = [
  (reading) => {
    if (reading === "score" || typeof reading === "function") return true;
    const rewards = typeof reading === "object" && reading !== null ? Object.values(reading) : [];
    return rewards.length > 0 && rewards.every(isReward);
  },
  '"score", an object from categories to rewards in [0, 1], or a function',
];

const CLIENT: FieldRule = [(client) => isFunctionOf(client, "listFeedback"), "LangSmith's Client"];

const OPTIONS: FieldRules<LangSmithFeedbackOptions> = {
  memory: true,
  client: CLIENT,
  keys: [(keys) => typeof keys === "object" && keys !== null, "an object from feedback keys to how they are read"],
  sources: [(types) => Array.isArray(types) && types.every(isName), 'a list such as ["api"]'],
  tier: [
    (tier) => typeof tier === "function" || OUTCOME_TIERS.includes(tier as OutcomeTier),
    `one of ${OUTCOME_TIERS.join(", ")} or a function`,
  ],
  source: FUNCTION,
  namespace: [
    (names) => typeof names === "function" || isName(names) || (isFilled(names) && names.every(isName)),
    "a name, a list of names or a function",
  ],
  cursor: [
    (cursor) => isFunctionOf(cursor, "read") && isFunctionOf(cursor, "write"),
    "an object with read and write, such as fileCursor(path)",
  ],
  lookback: [(ms) => typeof ms === "number" && ms >= 0, "a number of milliseconds of at least 0"],
};

function isFunctionOf(object: unknown, method: string): boolean {
  return typeof (object as Record<string, unknown> | null | undefined)?.[method] === "function";
}

function assertFeedbackOptions(options: LangSmithFeedbackOptions): void {
  checkFields("langsmithFeedback()", options, OPTIONS, ["client"]);
  const keys = options.keys ?? {};
  checkFields("keys", keys, Object.fromEntries(Object.keys(keys).map((key) => [key, READING])));
}
