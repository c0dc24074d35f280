/** How a run ended. */
export type RunEnd = { readonly output: unknown } | { readonly error: unknown };

/** The end of a run as its callback announced it. */
export interface AnnouncedEnd {
  readonly end: RunEnd;
  /** Undefined for a run whose batch calls `invoke`. */
  readonly parts: Parts | undefined;
  /** Number of runs that ended at once with this error or output. */
  readonly together: { readonly value: unknown; runs: number };
}

/** The parts of a run: the runs and model calls right below it. */
export interface Parts {
  /** A sequence needs all of its parts; a retry and fallbacks do not. */
  readonly needsAll: boolean;
  /** In the order of their ends. */
  readonly ended: AnnouncedEnd[];
}

/** Runnables whose batch takes all inputs through each part together, so that all of its runs end at once. */
const STEPWISE: readonly unknown[] = ["RunnableSequence", "RunnableRetry", "RunnableWithFallbacks"];

/** Begins the tag of the run of a node or a task in LangGraph. */
const NODE_TAG = "graph:step:";

/**
 * The parts of a run that may be one of a batch. A node of LangGraph is a sequence too, but the runs right below it are calls of its function,
 * which may have caught their errors.
 *
 * @param serialized The runnable, as the callback of a run's start describes it.
 */
export function partsOf(serialized: unknown, tags: readonly string[]): Parts | undefined {
  if (tags.some((tag) => tag.startsWith(NODE_TAG))) return undefined;
  const id = (serialized as { readonly id?: unknown } | null | undefined)?.id;
  const kind: unknown = Array.isArray(id) ? id.at(-1) : undefined;
  return STEPWISE.includes(kind) ? { needsAll: kind === "RunnableSequence", ended: [] } : undefined;
}

let latest: AnnouncedEnd["together"] | undefined;

/** Notes an end and counts those that are announced with it: a batch announces all in one synchronous loop. */
export function announced(end: RunEnd, parts?: Parts): AnnouncedEnd {
  const value = resultOf(end);
  if (latest === undefined || latest.value !== value) {
    latest = { value, runs: 0 };
    queueMicrotask(() => {
      latest = undefined;
    });
  }
  latest.runs += 1;
  return { end, parts, together: latest };
}

/**
 * The end that `invoke` would have announced for the run's input; undefined where that cannot be determined. Ask one microtask after the
 * end, when all that were announced with it are counted. LangChain's batch differs from `invoke`:
 * - An error of one input ends the runs of all inputs. It belongs to the runs in which a part threw it.
 * - With `returnExceptions`, an input's error is its output, or the input of its next part.
 * - Each run is handed the list of all outputs: by sequences before core 1.3.5, by retries in all versions. A run's own output is that of
 *   its last part.
 */
export function ownEnd({ end, parts, together }: AnnouncedEnd): RunEnd | undefined {
  if (!parts) return end;
  const isShared = together.runs > 1;
  const ends = parts.ended.map(ownEnd);
  if ("error" in end) {
    const threw = ends.some((part) => part && "error" in part && part.error === end.error);
    return !isShared || threw ? end : undefined;
  }
  const last = ends.at(-1);
  // The output of streamed fallbacks is that of the one that worked: LangChain announces none.
  if (!parts.needsAll && end.output === undefined && last) return last;
  const own = withOwnOutput(end, last, isShared);
  if (!own || isFailure(own)) return own;
  return parts.needsAll && ends.some((part) => !part || isFailure(part)) ? undefined : own;
}

/** True for an output that may stand for an error, as where a batch returned it. Ask as for {@link ownEnd}. */
export function returnedFailure(announcedEnd: AnnouncedEnd): boolean {
  if ("error" in announcedEnd.end) return false;
  const own = ownEnd(announcedEnd);
  return own === undefined || isFailure(own);
}

/** An error that was returned in place of a result. */
export function isFailure(end: RunEnd): boolean {
  // Errors of another realm are recognised as well.
  return "error" in end || Object.prototype.toString.call(end.output) === "[object Error]";
}

function withOwnOutput(
  end: { readonly output: unknown },
  last: RunEnd | undefined,
  isShared: boolean,
): RunEnd | undefined {
  const { output } = end;
  const value = last && resultOf(last);
  if (!Array.isArray(output) || (last && value === output)) return end;
  if (last && output.includes(value)) return last;
  return isShared ? undefined : end;
}

function resultOf(end: RunEnd): unknown {
  return "error" in end ? end.error : end.output;
}
