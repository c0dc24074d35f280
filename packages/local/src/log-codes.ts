/** Codes that a collection logs, each with the sentence of docs/reference/log-codes.md. */
export const LOCAL_LOG_CODES = {
  EMBEDDING_FAILED: "The embedding model failed, so a search used words only, or texts have no vectors.",
} as const;
