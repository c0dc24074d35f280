import type { Logger } from "../engine/options.js";
import { ignored } from "../engine/outcomes.js";
import { createTaskTracker, type TaskTracker } from "../engine/task-tracker.js";
import type { Engine, OutcomeInput, OutcomeReceipt, Ranking, RankRequest } from "../engine/types.js";
import { ERROR_CODES, type ErrorCode, QavrError } from "../errors/qavr-error.js";
import { isOutOfReach } from "../resilience/store-failure.js";
import { type EpisodeOfRun, type RepairedReport, recordAgentReport } from "./agent-report.js";
import { watchLearning } from "./learning-watch.js";
import { createLog, type LineFields, type Log, type SharedLogCode, WARNED_LOG_CODES } from "./log-codes.js";
import { MAX_FETCH_K } from "./options.js";
import { type Evaluate, fromVerdict, type Outcome, toOutcomeInput } from "./outcome.js";
import { endsOf, MOST_BEHIND } from "./run-ends.js";
import { type RunSession, reportInEach } from "./run-session.js";
import { worthShowing } from "./worth-showing.js";

/** How an adapter sets up its kit. */
export interface RunKitOptions<Code extends string> {
  readonly engine: Engine;
  readonly logger: Logger | undefined;
  /** `throw` lets failures of learning reach the caller. */
  readonly onError: "open" | "throw" | undefined;
  /** The reason why the store cannot be opened, where it is known already: see {@link storeProblem}. */
  readonly problem?: QavrError | undefined;
  /** From a memory's name to the id under which the adapter keeps it. */
  readonly storable: (name: string) => string;
  /** The adapter's own codes whose first line becomes a process warning when there is no logger. */
  readonly warned?: readonly Code[];
}

/** One ranking: the host's candidates in, the host's results out. */
export interface RunRanking<Result> {
  /** The run that is shown the results; undefined outside any run. */
  readonly session: RunSession | undefined;
  readonly runId: string | undefined;
  /** Leaves out memories as {@link worthShowing} does: they count as not shown. @default nothing is left out */
  readonly minWorth?: number | undefined;
  /** Builds the request. `record: false` ranks without recording. */
  mapIn(): RankRequest & { readonly namespace: string };
  /** Builds the host's results from the ranking. */
  mapOut(ranking: Ranking): Result;
}

/** Which run an outcome is about. */
export interface ReportTarget {
  /** Id or alias of an episode. */
  readonly reference: string;
  readonly namespace: string;
  /** Further namespaces that a run of this process ranked in. @default none */
  readonly others?: readonly string[];
  /** True for a run of this process that ended without being shown any memory. */
  readonly isUnshown: boolean;
}

/**
 * The work of every adapter around the engine. Failures of learning are logged and the host's run goes on without learning; with
 * `onError: "throw"` they reach the caller. A {@link RunSession} keeps the episodes of one run.
 */
export interface RunKit<Code extends string = never> {
  /** The engine, whose rankings, reports and reads come after the ends of the runs before them. */
  readonly engine: Engine;
  readonly log: Log<Code | SharedLogCode>;
  /** True when failures of learning reach the caller. */
  readonly throws: boolean;
  /** Outcomes that are being judged and recorded, and work that follows them. */
  readonly tasks: TaskTracker;

  /** Warns of a use that teaches little: once per engine and code, and never where learning is off. */
  warnOnce(code: Code | SharedLogCode, message: string): void;
  /** Logs a failure of learning. @throws the error where failures reach the caller */
  failOpen(
    code: Code | SharedLogCode,
    message: string,
    fields: LineFields & { readonly error: unknown },
    level?: "warn" | "error",
  ): void;
  /**
   * How many candidates to ask the host for: at least `topK`, at most `MAX_FETCH_K` beyond it. Undefined when the engine refuses the
   * request: the host then answers `topK` itself.
   */
  fetchSize(request: Parameters<Engine["fetchSize"]>[0], runId?: string): Promise<number | undefined>;
  /** Ranks and maps the result; undefined when that failed and the host's own order stands. */
  rank<Result>(ranking: RunRanking<Result>): Promise<Result | undefined>;
  /**
   * Reopens the episode that an interrupted run suspended under one of the aliases; undefined when there is none.
   *
   * @param run.alias A further alias for the episode.
   */
  resume(
    suspendedAs: readonly string[],
    run: { readonly namespace: string; readonly runId: string; readonly alias?: string | undefined },
  ): Promise<string | undefined>;
  /** Asks the application's judge; undefined when it cannot tell or fails. */
  judge<Run>(evaluate: Evaluate<Run>, run: Run, runId: string | undefined): Promise<OutcomeInput | undefined>;
  /**
   * Records the end of a run behind its caller: in the next turn of the event loop, with all others of that turn, or before the
   * next ranking. The engine's `flush()` waits for it. An end that met a store out of reach is tried once more: after the next end that
   * succeeds, or in `flush()`. One that can be recorded comes before a later report.
   *
   * @returns when it is recorded; false when that failed
   */
  record(work: () => Promise<void>, runId: string | undefined): Promise<boolean>;
  /**
   * Waits for a record as long as the caller of its run has to: in full where failures reach the caller, for at most a second where
   * too many ends wait already or `always` is true, else not at all.
   */
  held(recorded: Promise<unknown>, always?: boolean): Promise<void>;
  /** Records what an application reports about a run, in each of its namespaces. @throws the engine's codes; nothing fails open here */
  report(target: ReportTarget, outcome: Outcome): Promise<OutcomeReceipt>;
  /** Records what an agent's tool reports about its own run, and returns the tool's answer for the model. */
  reportByAgent(
    episodes: () => Promise<readonly EpisodeOfRun[]>,
    report: RepairedReport,
    call: { readonly id: string | undefined; readonly runId: string | undefined },
  ): Promise<string>;
  /** Waits for all tasks and for the engine. */
  flush(): Promise<void>;
}

/** @throws the problem of the store, where failures reach the caller */
export function createRunKit<Code extends string = never>({
  engine: given,
  logger,
  onError,
  problem,
  storable,
  warned = [],
}: RunKitOptions<Code>): RunKit<Code> {
  const ends = endsOf(given);
  const engine = ends.ordered;
  const log: RunKit<Code>["log"] = createLog<Code | SharedLogCode>(logger, [...WARNED_LOG_CODES, ...warned]);
  const throws = onError === "throw";
  const tasks = createTaskTracker();

  const watch = watchLearning<Code>(engine, (code, message) => log("warn", code, message));
  if (problem && engine.enabled) {
    if (throws) throw problem;
    watch.warnOnce("STORE_UNUSABLE", `Nothing is learned: ${problem.message}`);
  }

  const narrowed: RunSession["shown"] = ({ episode, exposure }, ids) => engine.narrow(episode, exposure, ids);

  const failOpen: RunKit<Code>["failOpen"] = (code, message, fields, level = "warn") => {
    if (throws) throw fields.error;
    log(level, code, message, fields);
  };

  const { unrecorded } = ends;
  const repeat = (): void => {
    for (const again of unrecorded.splice(0)) tasks.track(ends.add(() => again(true)));
  };

  return {
    engine,
    log,
    throws,
    tasks,
    warnOnce: watch.warnOnce,
    failOpen,

    async fetchSize(request, runId) {
      try {
        return Math.max(request.topK, Math.min(await engine.fetchSize(request), MAX_FETCH_K));
      } catch (error) {
        failOpen("RANKING_FAILED", "The number of candidates could not be determined.", { runId, error });
        return undefined;
      }
    },

    async rank({ session, runId, minWorth, mapIn, mapOut }) {
      try {
        const request = mapIn();
        const inSession = session !== undefined && request.record !== false;
        const ranking = await (inSession ? session.rank(request) : engine.rank(request));
        if (ranking.degraded && throws) throw degradation(ranking.degraded);
        tasks.track(watch.ranked(request.namespace, ranking));
        const items = minWorth === undefined ? ranking.items : worthShowing(ranking, minWorth);
        if (items.length < ranking.items.length && ranking.episode !== "") {
          (session?.shown ?? narrowed)(
            ranking,
            items.map(({ id }) => id),
          );
        }
        return mapOut({ ...ranking, items });
      } catch (error) {
        if (session?.isOver() !== true) {
          const message = "Ranking failed; the host's own first results were returned.";
          failOpen("RANKING_FAILED", message, { runId, error });
        }
        return undefined;
      }
    },

    async resume(suspendedAs, { namespace, runId, alias }) {
      try {
        for (const waiting of suspendedAs) {
          const episode = await engine.resume(waiting, { namespace });
          if (episode === undefined) continue;
          if (alias !== undefined) engine.alias(episode, [alias]);
          return episode;
        }
      } catch (error) {
        const message = "An interrupted run's episode could not be reopened.";
        failOpen("EPISODE_NOT_RESUMED", message, { runId, namespace, error });
      }
      return undefined;
    },

    async judge(evaluate, run, runId) {
      try {
        return fromVerdict(await evaluate(run), storable);
      } catch (error) {
        const message = "evaluate threw or returned something that is no verdict.";
        failOpen("EVALUATE_FAILED", message, { runId, error });
        return undefined;
      }
    },

    record(work, runId) {
      const recorded = async (isLast: boolean): Promise<boolean> => {
        try {
          await work();
          repeat();
          return true;
        } catch (error) {
          const isAway = !isLast && QavrError.isInstance(error) && isOutOfReach(error);
          if (isAway && unrecorded.length < MOST_BEHIND) unrecorded.push(recorded);
          const message = "The end of a run could not be recorded.";
          failOpen("OUTCOME_NOT_RECORDED", message, { runId, error }, "error");
          return false;
        }
      };
      return tasks.track(throws ? recorded(true) : ends.add(() => recorded(false)));
    },

    async held(recorded, always = false) {
      if (throws) await recorded;
      else if (always || ends.size > MOST_BEHIND) await ends.settledBriefly();
    },

    async report({ reference, namespace, others = [], isUnshown }, outcome) {
      const input = toOutcomeInput(outcome, storable);
      try {
        // Tracked, so that closing waits for all of its parts; the engine knows of one at a time.
        if (others.length > 0) return await tasks.track(reportInEach(engine, reference, [namespace, ...others], input));
        return await engine.report(reference, input, { namespace });
      } catch (error) {
        if (!isUnshown || !QavrError.isInstance(error, "UNKNOWN_EPISODE")) throw error;
        // An application that asks for feedback after every run need not know which runs retrieved.
        if ([input.helpful, input.harmful, input.neutral, input.used].some((side) => side && side.length > 0))
          throw error;
        return ignored(reference);
      }
    },

    async reportByAgent(episodes, { input, problems }, { id, runId }) {
      let answer: string;
      try {
        answer = await recordAgentReport(ends.direct, await episodes(), input, id);
      } catch (error) {
        const code = QavrError.isInstance(error) ? error.code : "unexpected error";
        const message = "An agent's report could not be recorded.";
        failOpen("OUTCOME_NOT_RECORDED", message, { runId, error }, "error");
        answer = `The report could not be recorded (${code}). Go on without it.`;
      }
      return [answer, ...problems].join(" ");
    },

    async flush() {
      await tasks.settled();
      repeat();
      await tasks.settled();
      await engine.flush();
    },
  };
}

/** Similarities for a list without scores: `1 − place / count`, the best is 1. */
export function byRank(count: number): number[] {
  return Array.from({ length: count }, (_, place) => 1 - place / count);
}

function degradation({ code, message }: NonNullable<Ranking["degraded"]>): QavrError {
  const known = Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : "STORE_FAILED";
  return new QavrError(known, `Learning had to be left out of this ranking: ${message}`, { details: { code } });
}
