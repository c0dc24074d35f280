import { type ErrorCode, QavrError } from "@qavr/core";

/** SQLSTATEs with an error code of their own, whole or by class. https://www.postgresql.org/docs/current/errcodes-appendix.html */
const CODES: Readonly<Record<string, ErrorCode>> = {
  "08": "STORE_UNAVAILABLE", // connection exception
  "25006": "STORE_UNWRITABLE", // read only transaction: a replica
  "25P03": "STORE_UNAVAILABLE", // idle in a transaction for too long: the session was ended
  "25P04": "STORE_UNAVAILABLE", // a transaction that took too long: the session was ended
  "28": "STORE_DENIED", // invalid authorization: unknown login, wrong password
  "3D000": "STORE_UNAVAILABLE", // no such database
  "3F000": "STORE_CORRUPT", // no such schema
  "40001": "STORE_BUSY", // serialization failure
  "40P01": "STORE_BUSY", // deadlock
  "42501": "STORE_DENIED", // missing rights
  "42703": "STORE_CORRUPT", // no such column
  "42P01": "STORE_CORRUPT", // no such table
  "53100": "STORE_UNWRITABLE", // disk full
  "53300": "STORE_UNAVAILABLE", // too many connections
  "55P03": "STORE_BUSY", // lock not available in time
  "57014": "STORE_BUSY", // statement timeout
  "57P": "STORE_UNAVAILABLE", // shutdown, crash, still starting
  XX001: "STORE_CORRUPT", // data corrupted
  XX002: "STORE_CORRUPT", // index corrupted
};

/** Errors of Node's sockets and resolver. */
const UNREACHABLE = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN"],
  ...["EHOSTUNREACH", "ENETUNREACH", "ENOENT"],
]);

/** Messages without a code of their own about a connection that is lost, was never made or does not answer: of `pg`, and of a cluster's node. */
const LOST =
  /postmaster was shut down|connection terminated|connection ended|connection error and is not queryable|client was closed|timeout exceeded when trying to connect|server closed the connection|query read timeout|connection is closed/i;

/** Messages of a cluster's node about another node that it could not connect to; the statement was not sent. */
const NODE_AWAY =
  /connection to the remote node.*(connection refused|no route to host|unreachable|timeout expired|could not translate)|could not establish any connections to the node/is;

const ADVICE: Readonly<Partial<Record<ErrorCode, string>>> = {
  STORE_UNAVAILABLE: "Check the address, that the server runs, and how many connections it allows.",
  STORE_DENIED: "Check the login and its rights on the schema.",
  STORE_UNWRITABLE: "Name the primary server, and check the free space on its disk.",
  STORE_BUSY: "The call changed nothing and may be repeated.",
  STORE_CORRUPT: "Restore a backup, or name another schema.",
};

/** Message of `pg` where the address asks for TLS. It has no code. */
const NO_TLS = /server does not support SSL/i;

/** A prepared statement that the session does not know. */
const FORGOTTEN_STATEMENT = "26000";
/** A prepared statement that another client has prepared in this session. */
const STRANGE_STATEMENT = "42P05";

/** SQLSTATE, if the server sent one. */
function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && !UNREACHABLE.has(code) ? code : undefined;
}

/** The code for an error of `pg`, undefined for other errors. */
function codeOf(error: unknown): ErrorCode | undefined {
  const state = sqlState(error);
  const isLost = error instanceof Error && (LOST.test(error.message) || NO_TLS.test(error.message));
  if (state && !(state === "XX000" && isLost))
    return CODES[state] ?? CODES[state.slice(0, 3)] ?? CODES[state.slice(0, 2)] ?? "STORE_FAILED";
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  return (typeof code === "string" && UNREACHABLE.has(code)) || isLost ? "STORE_UNAVAILABLE" : undefined;
}

/**
 * True when the connection is lost or useless, so that another one may succeed. A node that is away is so for all connections: calls for
 * its namespaces fail at once, since those of other namespaces wait for them.
 */
export function isConnectionLoss(error: unknown): boolean {
  if (QavrError.isInstance(error) || codeOf(error) !== "STORE_UNAVAILABLE" || sqlState(error) === "3D000") return false;
  return !NODE_AWAY.test((error as Error).message);
}

/**
 * True when a refused commit may have been kept. The coordinator of a cluster has no code of its own for a node that it loses during a
 * commit.
 */
export function isInDoubt(error: unknown): boolean {
  return isConnectionLoss(error) || sqlState(error) === "XX000";
}

/**
 * True when a new connection may succeed although this one answers: it leads to a read-only server, as after a failover, or its session
 * lost its prepared statements.
 */
export function isOutdatedSession(error: unknown): boolean {
  const state = sqlState(error);
  return state === "25006" || state === FORGOTTEN_STATEMENT;
}

/** True when a pooler refused a connection for its initial settings. */
export function isRefusedParameter(error: unknown): boolean {
  return error instanceof Error && /unsupported startup parameter/i.test(error.message);
}

/** True when the server gave up a transaction that may succeed when repeated: serialization failure, deadlock. */
export function isTransient(error: unknown): boolean {
  const state = sqlState(error);
  return state === "40001" || state === "40P01";
}

/** True when a row was inserted whose key another transaction has taken. */
export function isUniqueViolation(error: unknown): boolean {
  return sqlState(error) === "23505";
}

/** The error of a transaction that another one has overtaken: the next try sees what that has done. */
export function overtaken(): Error {
  return Object.assign(new Error("Another transaction was faster."), { code: "40001" });
}

/** True when a statement waited for a lock for as long as it may. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === "55P03";
}

/** True for an error that no correct statement gets: the tables may be others than when the store was opened. */
export function isUnexpected(error: unknown): boolean {
  const code = QavrError.isInstance(error) ? error.code : codeOf(error);
  if (code === "STORE_COMMIT_UNKNOWN") return isUnexpected((error as QavrError).cause);
  return code === "STORE_FAILED" || code === "STORE_CORRUPT";
}

/** An error of `pg` as a QavrError. A QavrError is returned unchanged. */
export function toStoreError(cause: unknown, place: string): QavrError {
  if (QavrError.isInstance(cause)) return cause;
  const code = codeOf(cause) ?? "STORE_FAILED";
  const state = sqlState(cause);
  const reason = cause instanceof Error && cause.message ? cause.message : String((cause as { code?: unknown })?.code);
  const advice = adviceFor(code, state, reason);
  return new QavrError(code, `The ledger in ${place} could not be used: ${reason}. ${advice}`, {
    details: { place, ...(state ? { sqlState: state } : {}) },
    cause,
  });
}

function adviceFor(code: ErrorCode, state: string | undefined, reason: string): string {
  if (NO_TLS.test(reason)) return "Turn TLS on at the server, or remove sslmode from the address.";
  if (state === FORGOTTEN_STATEMENT || state === STRANGE_STATEMENT)
    return "Behind a transaction pooler, set prepare to false.";
  return ADVICE[code] ?? "The cause says more.";
}

/** The error for checkpoint states that do not fit their digest. */
export function damagedCheckpoint(place: string, seq: number): QavrError {
  return new QavrError("STORE_CORRUPT", `The checkpoint at ${seq} in ${place} is damaged. Restore a backup.`, {
    details: { place, seq },
  });
}

/** The error for an entry that does not follow from the one before it. */
export function damagedEntry(place: string, seq: number): QavrError {
  return new QavrError("STORE_CORRUPT", `Entry ${seq} of the ledger in ${place} is damaged. Restore a backup.`, {
    details: { place, seq },
  });
}

/**
 * The error for a namespace whose row does not name its last entry.
 *
 * @param last place of the last entry that is there
 */
export function damagedHead(
  place: string,
  { namespace, head }: { readonly namespace: string; readonly head: number },
  last: number,
): QavrError {
  return new QavrError(
    "STORE_CORRUPT",
    `The head of namespace ${namespace} of the ledger in ${place} is damaged: it names entry ${head}, and the last one is ${last}. Restore a backup.`,
    { details: { place, namespace, head, last } },
  );
}

/** The error for tables that were distributed, or brought back, after the store was opened. */
export function layoutChanged(place: string): QavrError {
  return new QavrError("STORE_FAILED", `The tables of the ledger in ${place} were changed. Open the store again.`, {
    details: { place },
  });
}

/** The error for a commit without an answer. */
export function commitUnknown(cause: unknown, place: string): QavrError {
  return new QavrError(
    "STORE_COMMIT_UNKNOWN",
    `The connection to the ledger in ${place} was lost during a commit, and reconnecting failed, so the commit may or may not be kept. Repeat the call: a kept commit is not counted twice.`,
    { details: { place }, cause },
  );
}
