/**
 * Every code that a qavr package may raise, with the one sentence that docs/reference/errors.md prints for it.
 * A new code goes here first: the reference page is checked against this table.
 */
export const ERROR_CODES = {
  INVALID_ARGUMENT: "An option or argument is missing, unknown, of the wrong type or out of range.",
  INVALID_ID: "An id, namespace, collection or alias is empty or not well-formed Unicode.",
  INVALID_VECTOR: "A request vector has a value that is not finite, or another length than its space.",
  INVALID_SIMILARITY: "A candidate's similarity is not a finite number.",
  INVALID_REWARD: "A reward lies outside [0, 1] or an outcome's weight outside (0, 1].",
  UNKNOWN_EPISODE: "No open or recorded episode has this id or alias in this namespace.",
  NOT_SHOWN: "An outcome names a memory that its episode never showed.",
  OUTCOME_TOO_LATE: "The episode ended longer ago than outcomes are accepted for.",
  INVALID_TOKEN: "A run token is not genuine, or has expired.",
  IDEMPOTENCY_CONFLICT: "The idempotency key was used with another payload.",
  INVALID_MODEL_OUTPUT: "A language model's answer has the wrong form.",
  LEARNER_MISMATCH: "The stored state is another learner's.",
  EMBEDDING_MISMATCH: "The stored vectors are another embedding model's.",
  INVALID_STATE: "Stored or imported state cannot be read.",
  LIMIT_EXCEEDED: "A name, payload or batch is too large.",
  STORE_CLOSED: "The store was closed before this call.",
  STORE_UNAVAILABLE: "The store's package is missing, or its backend cannot be reached.",
  STORE_UNWRITABLE: "The store's file or folder cannot be written.",
  STORE_DENIED: "The store's backend refused the login or a right.",
  STORE_FOREIGN: "The file or schema belongs to another application.",
  STORE_CORRUPT: "The ledger is damaged, or its file is not a database.",
  STORE_NEWER_SCHEMA: "The file or schema was written by a newer version of the store.",
  STORE_BUSY: "Another process held the store's lock for too long.",
  STORE_COMMIT_UNKNOWN: "The connection was lost during a commit, which may have been kept.",
  STORE_TIMEOUT: "The store did not answer within the engine's timeout.",
  STORE_CIRCUIT_OPEN: "The store kept failing and is not asked for a while.",
  STORE_FAILED: "The store's backend failed unexpectedly.",
  OUTBOX_FULL: "The store is out of reach, and the outbox is full.",
  UNSUPPORTED: "The wrapped object does not offer the operation.",
} as const;

/** A stable, documented identifier of one kind of failure. Compare codes, never messages. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** JSON-safe facts about a failure: ids, limits, received values. Never memory text. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

const MARKER: symbol = Symbol.for("qavr.error");

/**
 * The one error class of every qavr package. The message says what was wrong, which value, and what to do.
 *
 * Test with {@link QavrError.isInstance}, not `instanceof`: two copies of this package (ESM and CJS) may live in one process.
 */
export class QavrError extends Error {
  override readonly name: string = "QavrError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, options: { details?: ErrorDetails; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    Object.defineProperty(this, MARKER, { value: true });
    this.code = code;
    this.details = options.details ?? {};
  }

  /** True for a QavrError from any copy of this package, optionally of one code only. */
  static isInstance<Code extends ErrorCode = ErrorCode>(
    value: unknown,
    code?: Code,
    // With one code not a plain QavrError: a known error of another code would become `never`.
  ): value is ErrorCode extends Code ? QavrError : QavrError & { readonly code: Code } {
    const given = value as Partial<QavrError & Record<typeof MARKER, unknown>> | null | undefined;
    return given?.[MARKER] === true && (code === undefined || given.code === code);
  }
}
