/** A LangSmith tracer among the handlers of a run: it lends the run that it will send. */
interface TracerShape {
  readonly name?: unknown;
  getRun?(runId: string): TracedRun | undefined;
}

/** A run as LangSmith gets it. */
export interface TracedRun {
  readonly run_type?: unknown;
  readonly trace_id?: unknown;
  extra?: Record<string, unknown>;
}

/** The run in each LangSmith tracer among the handlers. */
export function tracedRuns(runId: string | undefined, handlers: readonly unknown[]): TracedRun[] {
  if (runId === undefined) return [];
  return (handlers as readonly (TracerShape | null)[])
    .filter((tracer) => tracer?.name === "langchain_tracer" && typeof tracer.getRun === "function")
    .map((tracer) => tracer?.getRun?.(runId))
    .filter((run) => run !== undefined);
}
