import { type OutcomeInput, type OutcomeReceipt, type OutcomeTier, QavrError } from "@qavr/core";
import { cutNote, illegalOption } from "@qavr/core/adapter";
import { storableId } from "../document-ids.js";
import { type MemoryParts, ownNamespace } from "../memory-parts.js";
import { SCOPE_KEYS } from "../runs/run-scope.js";
import type { LangSmithFeedback } from "./feedback.js";
import { type FeedbackReading, readFeedback } from "./feedback-reading.js";

/** Types of a feedback's source that are checkers and not people. */
const EVALUATORS: ReadonlySet<unknown> = new Set(["model", "auto_eval"]);

/**
 * Result of one feedback.
 * - `recorded`: it is in the ledger now
 * - `duplicate`: it was there already
 * - `silent`: it holds no judgement of success, or its key was not asked for
 * - `unknown`: no run of this memory has its run or trace id
 * - `refused`: it cannot be read, or the ledger does not take it; `reason` is the error code
 * - `ignored`: learning is switched off
 */
export type FeedbackStatus = "recorded" | "duplicate" | "silent" | "unknown" | "refused" | "ignored";

export interface FeedbackReceipt {
  readonly status: FeedbackStatus;
  /** Set when it was refused. */
  readonly reason?: string;
}

/** The parts of a memory that take part in reading feedback. */
export type FeedbackParts = Pick<MemoryParts, "kit" | "runs" | "scope">;

/** How feedback becomes outcomes. */
export interface FeedbackRules {
  /**
   * The feedback keys that judge success, and how each is read. Name them, since of several outcomes of one tier about one run
   * only the last counts.
   * @default every key, by its score
   */
  readonly keys?: Readonly<Record<string, FeedbackReading>> | undefined;
  /** How good the evidence is. @default "verified" for evaluators, "user" for people */
  readonly tier?: OutcomeTier | ((feedback: LangSmithFeedback) => OutcomeTier) | undefined;
  /** Source of the outcome, for auditing and revocation. Name people one by one where trust or caps are on. @default "langsmith:" and the key */
  readonly source?: ((feedback: LangSmithFeedback) => string) | undefined;
  /**
   * Namespaces of the run's evidence. Needed for runs of other processes whose namespaces are not the memory's own. Of several
   * namespaces, each one with the run gets the outcome.
   * @default `qavr_namespace` in the metadata of the feedback's source, else the run's in this process, else the memory's
   */
  readonly namespace?:
    | string
    | readonly string[]
    | ((feedback: LangSmithFeedback) => string | readonly string[] | undefined)
    | undefined;
}

/**
 * Records one feedback as the outcome of the run it is about, in every namespace that knows the run by its own id or by its
 * trace's. Its idempotency key is its id, with the time of the edit for one that was edited.
 *
 * @throws the store's codes: the feedback must be recorded again
 */
export async function recordFeedback(
  parts: FeedbackParts,
  feedback: LangSmithFeedback,
  rules: FeedbackRules,
): Promise<FeedbackReceipt> {
  const { engine, log } = parts.kit;
  if (!engine.enabled) return { status: "ignored" };
  const refuse = (error: unknown): FeedbackReceipt => {
    const [runId] = runsOf(feedback);
    log("warn", "FEEDBACK_REFUSED", "LangSmith feedback cannot be used.", { runId, error });
    return { status: "refused", reason: QavrError.isInstance(error) ? error.code : "INVALID_ARGUMENT" };
  };
  let outcome: OutcomeInput | undefined;
  let namespaces: readonly string[];
  try {
    outcome = outcomeOf(feedback, rules);
    if (!outcome) return { status: "silent" };
    namespaces = namespacesOf(parts, feedback, rules);
  } catch (error) {
    return refuse(error);
  }
  const receipts: OutcomeReceipt[] = [];
  for (const namespace of namespaces) {
    try {
      receipts.push(...(await reportIn(parts, feedback, outcome, namespace)));
    } catch (error) {
      if (!isAboutTheFeedback(error)) throw error;
      return refuse(error);
    }
  }
  if (receipts.length === 0) return { status: "unknown" };
  return { status: receipts.some(({ status }) => status === "committed") ? "recorded" : "duplicate" };
}

function outcomeOf(feedback: LangSmithFeedback, { keys, tier, source }: FeedbackRules): OutcomeInput | undefined {
  const { id, key, comment, created_at, modified_at = created_at } = feedback;
  const reading = keys === undefined ? "score" : Object.hasOwn(keys, key) ? keys[key] : undefined;
  if (reading === undefined) return undefined;
  const read = readFeedback(
    feedback,
    reading,
    typeof tier === "function" ? tier(feedback) : (tier ?? tierOf(feedback)),
  );
  return (
    read && {
      source: source ? source(feedback) : storableId(`langsmith:${key}`),
      ...(comment ? { note: cutNote(comment) } : {}),
      ...read,
      idempotencyKey: `langsmith:${id}${modified_at === created_at ? "" : `@${modified_at}`}`,
    }
  );
}

/** `verified` for an evaluator, `user` for every other source, which is a person. */
function tierOf({ feedback_source }: LangSmithFeedback): OutcomeTier {
  return EVALUATORS.has(feedback_source?.type) ? "verified" : "user";
}

async function reportIn(
  { kit: { engine } }: FeedbackParts,
  feedback: LangSmithFeedback,
  outcome: OutcomeInput,
  namespace: string,
): Promise<OutcomeReceipt[]> {
  for (const run of runsOf(feedback)) {
    try {
      return [await engine.report(run, outcome, { namespace })];
    } catch (error) {
      if (!QavrError.isInstance(error, "UNKNOWN_EPISODE")) throw error;
    }
  }
  return [];
}

/** The run itself, which may be an episode of its own, then the trace it is part of. */
function runsOf({ run_id, trace_id }: LangSmithFeedback): string[] {
  return [...new Set([run_id, trace_id])].filter((id) => typeof id === "string" && id !== "") as string[];
}

function namespacesOf(parts: FeedbackParts, feedback: LangSmithFeedback, rules: FeedbackRules): readonly string[] {
  const asked = typeof rules.namespace === "function" ? rules.namespace(feedback) : rules.namespace;
  if (typeof asked === "string") return [asked];
  if (Array.isArray(asked)) return asked;
  if (asked !== undefined)
    throw illegalOption("namespace", "namespace must return a name, a list of names or undefined, at once", asked);
  const { metadata } = feedback.feedback_source ?? {};
  const named = (metadata as Record<string, unknown> | null | undefined)?.[SCOPE_KEYS.namespace];
  if (typeof named === "string" && named !== "") return [named];
  const ran = runsOf(feedback).flatMap((run) => parts.runs.namespacesOf(run));
  if (ran.length > 0) return [...new Set(ran)];
  return [ownNamespace(parts)];
}

/** True for errors that the feedback itself causes: they would occur again. */
function isAboutTheFeedback(error: unknown): boolean {
  return (
    [
      "IDEMPOTENCY_CONFLICT",
      "INVALID_ARGUMENT",
      "INVALID_ID",
      "INVALID_REWARD",
      "LIMIT_EXCEEDED",
      "NOT_SHOWN",
      "OUTCOME_TOO_LATE",
    ] as const
  ).some((code) => QavrError.isInstance(error, code));
}
