export type { FeedbackClient, FeedbackSourceType, LangSmithFeedback } from "./feedback.js";
export type { FeedbackReading } from "./feedback-reading.js";
export {
  DEFAULT_LOOKBACK,
  type FeedbackSyncReport,
  type LangSmithFeedbackOptions,
  type LangSmithFeedbackSync,
  langsmithFeedback,
} from "./langsmith-feedback.js";
export type { FeedbackReceipt, FeedbackStatus } from "./record-feedback.js";
export { fileCursor, type SyncCursor } from "./sync-cursor.js";
