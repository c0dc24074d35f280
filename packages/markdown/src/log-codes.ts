/** Codes that lessons log, each with the sentence of docs/reference/log-codes.md. */
export const MARKDOWN_LOG_CODES = {
  LESSON_CONFIDENCE_CLAMPED: "A lesson's confidence lies outside [0, 1], so the nearest end of that range is used.",
  LESSONS_NOT_COUNTED:
    "The ledger failed, so lessons were shown without their counts, or their reading was not counted.",
  LESSON_FILE_UNREADABLE: "A file of lessons could not be read, so its lessons are those of the last reading.",
} as const;

export type MarkdownLogCode = keyof typeof MARKDOWN_LOG_CODES;
