/** Codes that a collection logs, each with the sentence of docs/reference/log-codes.md. */
export const LOCAL_LOG_CODES = {
  EMBEDDING_FAILED:
    "The embedding model failed, so a collection searched by words only, or kept texts without vectors.",
} as const;
