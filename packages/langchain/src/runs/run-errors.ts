/** What an error thrown at a run says about it. Judged by shape: the classes may come from another copy of LangGraph. */
interface ErrorShape {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly is_bubble_up?: unknown;
  readonly cause?: unknown;
  readonly [INVALID_RESUME]?: unknown;
}

/** What LangGraph marks an error with that an answer has caused. */
const INVALID_RESUME = Symbol.for("langgraph.invalid_resume");
/** Errors that wrap one another are followed so far, as LangGraph does. */
const MOST_CAUSES = 10;

/** LangGraph's control flow (interrupts, hand-offs, draining) travels as errors that are no failures. */
export function isControlFlow(error: unknown): boolean {
  return shape(error)?.is_bubble_up === true;
}

/** The control flow that stops a graph until somebody answers. */
export function isInterrupt(error: unknown): boolean {
  const name = shape(error)?.name;
  return isControlFlow(error) && (name === "GraphInterrupt" || name === "NodeInterrupt");
}

/** An answer to an interrupt does not fit the question's schema: the question stands, and may be answered again. */
export function isRefusedAnswer(error: unknown): boolean {
  let inner = shape(error);
  for (let depth = 0; inner && depth < MOST_CAUSES; depth++) {
    if (inner[INVALID_RESUME] === true) return true;
    inner = shape(inner.cause);
  }
  return false;
}

/**
 * The caller gave up: aborted or timed out, which says nothing about the memories. To be asked about the root's error only,
 * because a node that fails aborts its siblings with the same errors.
 *
 * @param signals what may have aborted the run
 */
export function isAbort(error: unknown, signals: Iterable<AbortSignal>): boolean {
  const { name, message } = shape(error) ?? {};
  for (const { aborted, reason } of signals) {
    // A reason that is a text travels as the message of a plain error.
    if (aborted && (reason === error || (typeof reason === "string" && name === "Error" && reason === message)))
      return true;
  }
  if (name === "AbortError" || name === "TimeoutError" || name === "ModelAbortError") return true;
  // LangGraph rejects an aborted root with a plain Error("Abort"), core with Error("Aborted").
  return name === "Error" && (message === "Abort" || message === "Aborted");
}

function shape(error: unknown): ErrorShape | undefined {
  return typeof error === "object" && error !== null ? error : undefined;
}
