import { type ErrorCode, QavrError } from "@qavr/core";

/** Exit codes of every command; docs/reference/cli.md lists them. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  /** A check found something: `doctor`, `ledger verify`. */
  problems: 3,
  /** No run, memory, collection, namespace, learner or file has the name that was given. */
  notFound: 4,
  /** Another version or learner wrote the ledger. */
  conflict: 5,
  /** The ledger is missing, locked, damaged or out of reach. */
  unavailable: 6,
} as const;

const BY_CODE: Partial<Record<ErrorCode, number>> = {
  INVALID_ARGUMENT: EXIT.usage,
  INVALID_ID: EXIT.usage,
  LIMIT_EXCEEDED: EXIT.usage,
  UNSUPPORTED: EXIT.usage,
  UNKNOWN_EPISODE: EXIT.notFound,
  IDEMPOTENCY_CONFLICT: EXIT.conflict,
  INVALID_STATE: EXIT.unavailable,
  LEARNER_MISMATCH: EXIT.conflict,
  STORE_NEWER_SCHEMA: EXIT.conflict,
};

type CommandCode = "USAGE" | "NOT_FOUND" | "CONFLICT";

const OF_COMMAND: Readonly<Record<CommandCode, number>> = {
  USAGE: EXIT.usage,
  NOT_FOUND: EXIT.notFound,
  CONFLICT: EXIT.conflict,
};

/** An error of the command line itself: its exit code, and the code that `--json` prints. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";

  constructor(
    readonly code: CommandCode,
    message: string,
  ) {
    super(message);
  }
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof CommandError) return OF_COMMAND[error.code];
  if (!QavrError.isInstance(error)) return EXIT.failure;
  return BY_CODE[error.code] ?? (error.code.startsWith("STORE_") ? EXIT.unavailable : EXIT.failure);
}
