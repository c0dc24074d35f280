import type { ContextStatus, ExtremeMemory, LiftReport, NamespaceStatus } from "@qavr/core";
import type { Progress } from "@qavr/core/maintenance";
import type { Ledger } from "../open-ledger.js";
import { type CurvePoint, curveOf } from "./curve.js";
import { type LedgerEvent, type Reporter, readRuns } from "./judged-runs.js";
import { type LearningState, stateOf } from "./learning-state.js";

/** A memory at either end, and its collection. */
export interface Extreme extends ExtremeMemory {
  readonly collection: string;
}

/** One screen about a namespace. */
export interface StatusReport {
  readonly store: string;
  readonly namespace: string;
  /** Of the first thousand. */
  readonly otherNamespaces: readonly string[];
  readonly learner: string;
  readonly state: LearningState;
  readonly runs: {
    readonly recorded: number;
    readonly suspended: number;
    readonly abandoned: number;
    /** Runs whose outcome has taught something. */
    readonly taught: number;
    /** Share in [0, 1] of the runs, without suspended ones, that have a reward or votes; of a long ledger estimated from below. Absent without runs. */
    readonly coverage?: number;
  };
  readonly outcomes: NamespaceStatus["outcomes"];
  readonly lift?: LiftReport;
  readonly memoryLift?: LiftReport<"shown" | "off">;
  readonly curve: {
    readonly points: readonly CurvePoint[];
    /** False where no run was judged: the points are then of runs that merely ended, or threw. */
    readonly judged: boolean;
    /** Events that may explain a change of it, oldest first. */
    readonly events: readonly LedgerEvent[];
    /** True for a curve from a sample of a long ledger. */
    readonly sampled: boolean;
  };
  /** Reporters of the entries behind the curve. */
  readonly reporters: readonly Reporter[];
  readonly contexts: readonly ContextStatus[];
  /** Absent where another learner than this engine's wrote the states, such as one of the application's own. */
  readonly memories?: { readonly known: number; readonly withEvidence: number };
  readonly best: readonly Extreme[];
  readonly worst: readonly Extreme[];
  readonly sources: NamespaceStatus["sources"];
}

const EXTREMES = 5;

export async function statusReport(ledger: Ledger, progress?: Progress): Promise<StatusReport> {
  const { engine, place, namespace, namespaces } = ledger;
  const status = await engine.status({ namespace });
  const { judged, runs, withOutcome, reporters, events, sampled } = await readRuns(ledger, progress);
  const { learner, episodes, taught, outcomes, lift, memoryLift, contexts, collections, sources } = status;
  // Each collection names its own ends: of several, the best of one may be below the worst of another.
  const ends: Extreme[] = collections
    .flatMap(({ collection, best, worst }) => [...best, ...worst.toReversed()].map((one) => ({ ...one, collection })))
    .sort((a, b) => b.utility - a.utility);
  const sum = (pick: "memories" | "withEvidence"): number => collections.reduce((all, known) => all + known[pick], 0);
  // A sample has the outcomes that came soon, and the counters those that taught, also of suspended runs.
  const late = sampled ? taught / (episodes.recorded - episodes.suspended) : 0;
  return {
    store: place,
    namespace,
    otherNamespaces: namespaces.filter((name) => name !== namespace),
    learner,
    state: stateOf(status),
    runs: {
      recorded: episodes.recorded,
      suspended: episodes.suspended,
      abandoned: episodes.abandoned,
      taught,
      ...(runs > 0 ? { coverage: Math.min(1, Math.max(withOutcome / runs, late)) } : {}),
    },
    outcomes,
    ...(lift ? { lift } : {}),
    ...(memoryLift ? { memoryLift } : {}),
    curve: {
      points: curveOf(judged),
      judged: judged.some((run) => run.judged),
      events,
      sampled,
    },
    reporters,
    contexts,
    ...(learner === engine.learner.id
      ? { memories: { known: sum("memories"), withEvidence: sum("withEvidence") } }
      : {}),
    best: ends.slice(0, Math.min(EXTREMES, Math.ceil(ends.length / 2))),
    worst: ends.toReversed().slice(0, Math.min(EXTREMES, Math.floor(ends.length / 2))),
    sources,
  };
}
