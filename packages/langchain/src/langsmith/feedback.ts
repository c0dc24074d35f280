/**
 * One feedback as LangSmith returns it. Only what is read here; `Feedback` of the package `langsmith` is one.
 */
export interface LangSmithFeedback {
  readonly id: string;
  /** The run it is about: null for feedback about a whole project. */
  readonly run_id?: string | null;
  /** The root of that run's trace, where the server gives it. */
  readonly trace_id?: string | null;
  readonly key: string;
  readonly score?: number | boolean | null;
  /** A category, mostly; anything is legal. */
  readonly value?: unknown;
  readonly comment?: string | null;
  /** ISO 8601. */
  readonly created_at: string;
  /** ISO 8601. Later than `created_at` for feedback that was edited. */
  readonly modified_at?: string;
  readonly feedback_source?: { readonly type?: unknown; readonly metadata?: unknown } | null;
}

/** The part of LangSmith's `Client` that is needed. */
export interface FeedbackClient {
  listFeedback(options: {
    feedbackKeys?: string[];
    feedbackSourceTypes?: FeedbackSourceType[];
  }): AsyncIterable<LangSmithFeedback>;
}

/** Channel: an application (`api`), LangSmith's own pages (`app`) or an evaluator (`model`). */
export type FeedbackSourceType = "api" | "app" | "model";

/** Time of its creation, Unix ms; NaN for an unreadable date. */
export function createdAt(feedback: LangSmithFeedback): number {
  return Date.parse(feedback.created_at);
}

/** Time of its last edit, Unix ms. */
export function saidAt(feedback: LangSmithFeedback): number {
  const modified = Date.parse(feedback.modified_at ?? "");
  return Number.isNaN(modified) ? createdAt(feedback) : Math.max(modified, createdAt(feedback));
}
