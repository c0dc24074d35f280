import { OUTCOME_TIERS, type OutcomeTier, QavrError } from "@qavr/core";
import { assertKnownFields, type FieldsOf } from "@qavr/core/adapter";
import { internalsOf } from "../internals.js";
import type { Qavr } from "../memory.js";
import { assertFunction, refuse } from "../ranking/ranking-options.js";
import { createdAt, type FeedbackClient, type FeedbackSourceType, type LangSmithFeedback, saidAt } from "./feedback.js";
import type { FeedbackReading } from "./feedback-reading.js";
import { listFeedback } from "./list-feedback.js";
import { type FeedbackReceipt, type FeedbackStatus, recordFeedback } from "./record-feedback.js";
import type { SyncCursor } from "./sync-cursor.js";

/** How long before the cursor a sync looks again. Ms. */
export const DEFAULT_LOOKBACK = 86_400_000;

/** Feedback recorded between two writes of the cursor. */
const CURSOR_INTERVAL = 100;

/** What {@link langsmithFeedback} can be told. */
export interface LangSmithFeedbackOptions {
  readonly memory: Qavr;
  /** LangSmith's `Client`. */
  readonly client: FeedbackClient;
  /**
   * The feedback keys that speak of success, and how. Name them: of several words of one tier about one run the last counts.
   * @default every key, by its score
   */
  readonly keys?: Readonly<Record<string, FeedbackReading>> | undefined;
  /** Only feedback that came in this way. @default all */
  readonly sources?: readonly FeedbackSourceType[] | undefined;
  /** How good the evidence is. @default "verified" for evaluators, "user" for everybody else */
  readonly tier?: OutcomeTier | ((feedback: LangSmithFeedback) => OutcomeTier) | undefined;
  /** Who says so, for auditing and revocation. Name people one by one where trust or caps are on. @default "langsmith:" and the key */
  readonly source?: ((feedback: LangSmithFeedback) => string) | undefined;
  /**
   * Where the run's evidence is. Needed for runs of other processes whose namespaces are not the memory's own; with several, every
   * one that knows the run takes the outcome.
   * @default `qavr_namespace` in the metadata of the feedback's source, else the run's in this process, else the memory's
   */
  readonly namespace?:
    | string
    | readonly string[]
    | ((feedback: LangSmithFeedback) => string | readonly string[] | undefined)
    | undefined;
  /** Remembers how far a sync came. @default this process's memory: the first sync of each process reads everything */
  readonly cursor?: SyncCursor | undefined;
  /**
   * How long before the cursor a sync looks again, ms: for edits, for feedback whose run was not recorded yet, and for what a page
   * lost to a deletion.
   * @default 86,400,000, one day
   */
  readonly lookback?: number | undefined;
}

/** What a sync did. */
export interface FeedbackSyncReport extends Readonly<Record<Exclude<FeedbackStatus, "ignored">, number>> {
  /** How far it came: everything said before is recorded. Undefined when there was never any feedback, or learning is off. */
  readonly cursor: string | undefined;
}

/** Feedback of LangSmith as outcomes. */
export interface LangSmithFeedbackSync {
  /**
   * Records what was said since the last sync. Runs one at a time; when it rejects, what it recorded stays and the next one goes
   * on from there.
   * @throws what the client throws, and the store's codes
   */
  sync(): Promise<FeedbackSyncReport>;
  /** Records one feedback, as a webhook brings it. @throws INVALID_ARGUMENT for what is no feedback, and the store's codes */
  record(feedback: LangSmithFeedback): Promise<FeedbackReceipt>;
}

/**
 * Turns feedback that LangSmith collects into outcomes: late words of people and evaluators replace what the end of a run said,
 * each exactly once however often it is read.
 *
 * @throws INVALID_ARGUMENT
 */
export function langsmithFeedback(options: LangSmithFeedbackOptions): LangSmithFeedbackSync {
  assertOptions(options);
  const { memory, client, keys, sources, tier, source, namespace, cursor = inMemory() } = options;
  const { lookback = DEFAULT_LOOKBACK } = options;
  const internals = internalsOf(memory);
  const rules = { keys, tier, source, namespace };
  let running: Promise<FeedbackSyncReport> | undefined;

  const sync = async (): Promise<FeedbackSyncReport> => {
    const counts = { recorded: 0, duplicate: 0, silent: 0, unknown: 0, refused: 0, ignored: 0 };
    // What is read while learning is off must be found again when it is on.
    if (!internals.engine.enabled) return reportOf(counts, undefined);
    let reached = Date.parse((await cursor.read()) ?? "");
    const since = Number.isNaN(reached) ? Number.NEGATIVE_INFINITY : reached - lookback;
    const filter = { keys: keys && Object.keys(keys), sources };
    const found = await listFeedback(client, filter, since);
    const unread = earliestFrom(found);
    for (const [place, feedback] of found.entries()) {
      counts[(await recordFeedback(internals, feedback, rules)).status] += 1;
      const isLast = place === found.length - 1;
      if (!isLast && (place + 1) % CURSOR_INTERVAL !== 0) continue;
      // Not beyond what is still to come, which a list may be left before when it is older than the cursor.
      const next = Math.min(saidAt(feedback), unread[place + 1] as number);
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
      return recordFeedback(internals, feedback, rules);
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

const OPTIONS: FieldsOf<LangSmithFeedbackOptions> = {
  memory: true,
  client: true,
  keys: true,
  sources: true,
  tier: true,
  source: true,
  namespace: true,
  cursor: true,
  lookback: true,
};

function assertOptions(options: LangSmithFeedbackOptions): void {
  const { client, keys, tier, source, namespace, cursor, lookback } = options;
  if (typeof client?.listFeedback !== "function") refuse("client", client, "must be LangSmith's Client");
  assertKnownFields(options, "langsmithFeedback() has no option", OPTIONS);
  if (keys !== undefined && (typeof keys !== "object" || keys === null)) {
    refuse("keys", keys, "must be an object from feedback keys to how they are read");
  }
  for (const [key, reading] of Object.entries(keys ?? {})) assertReading(key, reading);
  if (tier !== undefined && typeof tier !== "function" && !OUTCOME_TIERS.includes(tier)) {
    refuse("tier", tier, `must be one of ${OUTCOME_TIERS.join(", ")} or a function`);
  }
  assertFunction("source", source);
  const isName = (name: unknown): boolean => typeof name === "string" && name !== "";
  const names: unknown = namespace;
  if (names !== undefined && typeof names !== "function" && ![names].flat().every(isName)) {
    refuse("namespace", namespace, "must be a name, a list of names or a function");
  }
  if (cursor !== undefined && (typeof cursor?.read !== "function" || typeof cursor.write !== "function")) {
    refuse("cursor", cursor, "must have read and write; fileCursor(path) makes one");
  }
  if (lookback !== undefined && !(typeof lookback === "number" && lookback >= 0)) {
    refuse("lookback", lookback, "must be a number of milliseconds of at least 0");
  }
}

function assertReading(key: string, reading: unknown): void {
  if (reading === "score" || typeof reading === "function") return;
  const rewards = typeof reading === "object" && reading !== null ? Object.values(reading) : [];
  const isReward = (reward: unknown): boolean =>
    typeof reward === "boolean" || (typeof reward === "number" && reward >= 0 && reward <= 1);
  if (rewards.length > 0 && rewards.every(isReward)) return;
  refuse(`keys.${key}`, reading, 'must be "score", an object from categories to rewards in [0, 1], or a function');
}
