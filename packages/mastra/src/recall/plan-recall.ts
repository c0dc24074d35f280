import type { ProcessInputArgs } from "@mastra/core/processors";
import type { QueryResult } from "@mastra/core/vector";
import { nearIdenticalTo } from "@qavr/core/adapter";
import { failOpen, type Internals } from "../internals.js";
import type { MemoryContext } from "../runs/memory-context.js";
import type { RunEpisode } from "../runs/run-episode.js";
import { openRun, openUnrecorded } from "../runs/run-lifecycle.js";
import { type RunScope, scopeOf } from "../runs/run-scope.js";
import { storable } from "../runs/storable.js";
import { answered } from "../synchronous.js";
import { DEFAULT_TOP_K, type QueryPlan } from "./ranked-query.js";
import { requestText } from "./request-text.js";

/** Roles of messages in which a user asks. What is said in Studio's chat is embedded as a signal. */
const ASKING: ReadonlySet<unknown> = new Set(["user", "signal"]);

/** What one resolved memory configuration means for recall. */
export interface RecallSettings {
  /** Results below this similarity are no candidates. */
  readonly threshold: number | undefined;
  /** Whether a recalled question comes with what was answered to it. */
  readonly showsAnswers: boolean;
  readonly readOnly: boolean;
  /** Name of the report tool, undefined where the agent has none. */
  readonly reportTool: string | undefined;
  readonly model: string | undefined;
}

/** What is recalled for one run, and what of it. */
export interface RecallPlan {
  readonly run: RunEpisode;
  readonly query: QueryPlan;
  /** The user's request. */
  readonly text: string | undefined;
  /** How many candidates were ranked. */
  candidates: number;
  /** How far the learner trusted itself, 0..1; undefined when nothing was ranked. */
  gate: number | undefined;
  /** Whether learning changed the order. */
  learned: boolean;
}

/** Opens the run's episode. Undefined when that fails: the run goes on as Mastra would run it. */
export function planRecall(
  internals: Internals,
  settings: RecallSettings,
  { threadId, resourceId }: MemoryContext,
  args: ProcessInputArgs,
): RecallPlan | undefined {
  const { requestContext, messageList, messages, tracingContext } = args;
  try {
    const info = { threadId, resourceId, requestContext };
    const scope = scopeOf(internals.options, info);
    const record = !settings.readOnly && answered("ignore", internals.options.ignore?.(info)) !== true;
    const traceId = tracingContext?.currentSpan?.traceId;
    const open = record ? openRun : openUnrecorded;
    const run = open(internals, scope, { threadId, resourceId, traceId }, requestContext);
    const text = requestText(messages);
    const inPrompt = new Set(messageList.get.all.db().map(({ id }) => id));
    const plan: RecallPlan = {
      run,
      query: messageQuery(internals, settings, scope, {
        run,
        text,
        inPrompt,
        onRanked(ranking, shown, candidates) {
          plan.candidates += candidates;
          plan.gate = ranking.gate;
          plan.learned ||= ranking.order === "learned";
          ranking.items.forEach((item, place) => {
            const result = shown[place] as QueryResult;
            run.memories.push({
              id: item.id,
              handle: item.handle,
              collection: internals.messages,
              text: textOf(result),
              item,
            });
            // One that a further query of this recall finds again is there already.
            inPrompt.add(idOf(result) ?? "");
          });
        },
      }),
      text,
      candidates: 0,
      gate: undefined,
      learned: false,
    };
    return plan;
  } catch (error) {
    failOpen(internals, "RANKING_FAILED", "A run's episode could not be opened.", { error });
    return undefined;
  }
}

/** How messages are ranked. */
export function messageQuery(
  internals: Internals,
  { threshold, showsAnswers, model }: RecallSettings,
  scope: RunScope,
  site: {
    readonly run: RunEpisode | undefined;
    readonly text: string | undefined;
    readonly inPrompt: ReadonlySet<string>;
    readonly onRanked: QueryPlan["onRanked"];
  },
): QueryPlan {
  const { echoes = "auto" } = internals.options;
  const { run, text, inPrompt, onRanked } = site;
  const drops = text !== undefined && (echoes === "drop" || (echoes === "auto" && !showsAnswers));
  const isSame = drops ? nearIdenticalTo(text) : () => false;
  let echoed = false;
  let present = 0;
  return {
    internals,
    scope,
    run,
    record: run?.recorded ?? false,
    collection: internals.messages,
    model,
    idOf: (result) => {
      const id = idOf(result);
      return id === undefined ? undefined : storable(id);
    },
    textOf,
    admits(result) {
      if (inPrompt.has(idOf(result) ?? "")) {
        present += 1;
        return false;
      }
      if (threshold !== undefined && result.score < threshold) return false;
      const echo = ASKING.has(result.metadata?.role) && isSame(textOf(result) ?? "");
      echoed ||= echo;
      return !echo;
    },
    askAgain({ topK = DEFAULT_TOP_K, ...asked }) {
      // Where the user's own questions filled the list, answers are what is missing.
      if (echoed) return { ...asked, topK: topK + present, filter: { ...asked.filter, role: "assistant" } };
      return present === 0 ? undefined : { ...asked, topK: topK + present };
    },
    onRanked,
  };
}

function idOf({ metadata }: QueryResult): string | undefined {
  const id: unknown = metadata?.message_id;
  return typeof id === "string" && id !== "" ? id : undefined;
}

function textOf({ metadata }: QueryResult): string | undefined {
  const text: unknown = metadata?.content;
  return typeof text === "string" && text !== "" ? text : undefined;
}
