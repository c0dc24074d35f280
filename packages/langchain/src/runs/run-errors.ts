/** The parts of an error that tell its kind. Recognised by shape: the classes may come from another copy of LangGraph. */
interface ErrorShape {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly is_bubble_up?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
  readonly [INVALID_RESUME]?: unknown;
}

/** LangGraph's mark of an error that an answer has caused. */
const INVALID_RESUME = Symbol.for("langgraph.invalid_resume");
/** Errors that wrap one another are followed so far, as LangGraph does. */
const MOST_CAUSES = 10;

/** LangGraph's control flow (interrupts, hand-offs, draining) travels as errors that are no failures. */
export function isControlFlow(error: unknown): boolean {
  return shape(error)?.is_bubble_up === true;
}

/** The control flow that stops a graph until an answer arrives. */
export function isInterrupt(error: unknown): boolean {
  const name = shape(error)?.name;
  return isControlFlow(error) && (name === "GraphInterrupt" || name === "NodeInterrupt");
}

/** LangGraph stopped a graph between two steps because it was asked to (`RunControl`): an input of null goes on from there. */
export function isDrained(error: unknown): boolean {
  return isControlFlow(error) && shape(error)?.name === "GraphDrained";
}

/**
 * An answer to an interrupt does not fit the question's schema: the question stands, and may be answered again. Several such answers in one
 * step are one error with all of theirs in it.
 */
export function isRefusedAnswer(error: unknown, depth: number = 0): boolean {
  const outer = shape(error);
  if (!outer || depth === MOST_CAUSES) return false;
  const { [INVALID_RESUME]: refused, errors, cause } = outer;
  if (refused === true || isRefusedAnswer(cause, depth + 1)) return true;
  return Array.isArray(errors) && errors.length > 0 && errors.every((each) => isRefusedAnswer(each, depth + 1));
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
