import type { OutcomeInput } from "@qavr/core";
import { answerIn } from "./run-texts.js";
import type { RootRun } from "./run-tree.js";

/** The part of a message that is read here. */
interface Message {
  readonly type?: unknown;
  readonly content?: unknown;
  readonly status?: unknown;
  readonly tool_call_id?: unknown;
}

type Tools = Pick<RootRun, "toolErrors" | "lastToolFailed" | "doneCalls" | "ownCalls">;

/** LangChain's own notes in place of an agent's answer: at a limit of model calls, tool calls, steps or time, and where the model failed. */
const NO_ANSWER =
  /^(Model call limits exceeded: |(Tool|'.*' tool) call limit reached: |Tool call limit exceeded\. Do not |Sorry, need more steps to process this request\.$|Agent stopped due to (max iterations|iteration limit or time limit)\.$|Model call failed after \d+ attempts? with )/;

/**
 * The outcome of a run that ended and was not judged: success of tier `completed`, unless it was an agent without an answer, or one that
 * ended after tools that failed. Without an answer, and if all tools of its last step with tool calls failed, that is a failure of the same
 * tier. The result is unknown if only some failed, or if a call was rejected by a person.
 */
export function outcomeOfEnd(root: Tools, output: unknown): OutcomeInput | undefined {
  const turn = lastTurn(output);
  // The note may be the result of a tool's call, where LangChain ends the agent at it.
  if (NO_ANSWER.test(answerIn(output) || String(turn.at(-1)?.content))) return { reward: 0, tier: "completed" };
  const results = lastResults(turn, output, root.ownCalls);
  // LangChain marks the results of failed tools since 1.5.14. Without marks, a result of a call that is not in doneCalls counts as failed,
  // unless no tool failed: calls of an earlier process, before an interrupt, are not in doneCalls either.
  const isUnmarked = root.toolErrors > 0 && !turn.some(isError);
  const failed = results.filter(
    (result) => isError(result) || (isUnmarked && !root.doneCalls.has(result.tool_call_id)),
  );
  if (failed.length === 0) return { reward: 1, tier: "completed" };
  return failed.length === results.length && root.lastToolFailed ? { reward: 0, tier: "completed" } : undefined;
}

/**
 * The results in the output of one tool: the output itself, or the messages of a Command, by which tools change the agent's state.
 */
export function toolResults(output: unknown): readonly Message[] {
  const { lg_name: kind, update } = (output ?? {}) as {
    readonly lg_name?: unknown;
    readonly update?: { readonly messages?: Message | readonly Message[] };
  };
  return kind === "Command" ? [update?.messages ?? []].flat() : [output ?? {}];
}

function isError({ status }: Message): boolean {
  return status === "error";
}

/** An agent's messages since the last one of a person. */
function lastTurn(output: unknown): readonly Message[] {
  const { messages } = (output ?? {}) as { readonly messages?: unknown };
  const list = Array.isArray(messages) ? (messages as readonly Message[]) : [];
  return list.slice(list.findLastIndex(({ type }) => type === "human") + 1);
}

/**
 * The results of an agent's last step with tool calls, without those of the memory's own tools. A structured response is the agent's
 * answer, although LangChain writes it as a tool's result.
 */
function lastResults(turn: readonly Message[], output: unknown, ownCalls: ReadonlySet<unknown>): readonly Message[] {
  const { structuredResponse } = (output ?? {}) as { readonly structuredResponse?: unknown };
  const answer = structuredResponse === undefined ? undefined : JSON.stringify(structuredResponse);
  const results: Message[] = [];
  for (const message of turn.toReversed()) {
    if (message.type === "ai" && results.length > 0) break;
    const isAnswer = answer !== undefined && message.content === answer;
    if (message.type === "tool" && !isAnswer && !ownCalls.has(message.tool_call_id)) results.push(message);
  }
  return results;
}
