/** Codes that lessons and procedures log, each with the sentence of docs/reference/log-codes.md. */
const MARKDOWN_LOG_CODES = {
  LESSON_CONFIDENCE_CLAMPED: "A lesson's confidence lies outside [0, 1], so the nearest end is used.",
  LESSONS_NOT_COUNTED: "The ledger failed, so lessons have no counts, or a reading was not counted.",
  LESSON_FILE_UNREADABLE: "A file or folder is unreadable, or a lesson too long; known lessons stay.",
  PROCEDURE_FILE_UNREADABLE:
    "A procedure or folder is unreadable, too long or illegally named, so its last version counts.",
  PROCEDURES_NOT_COUNTED: "The ledger failed, or an episode is unknown or over, so counts are missing.",
} as const;

export type MarkdownLogCode = keyof typeof MARKDOWN_LOG_CODES;
