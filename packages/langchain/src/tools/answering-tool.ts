import type { DynamicStructuredTool, ToolRunnableConfig } from "@langchain/core/tools";
import { type FieldRules, fieldsOf, TEXT } from "@qavr/core/adapter";
import type { MemoryParts } from "../memory-parts.js";
import { findRun } from "../runs/find-run.js";
import type { RootRun } from "../runs/run-tree.js";

/** The options of every tool. */
export const TOOL_OPTIONS: FieldRules<{ readonly name?: string; readonly description?: string }> = {
  name: TEXT,
  description: TEXT,
};

/** A model's input in the shape of the tool's schema, and one sentence for each field that was left out. */
export interface Repaired<Input> {
  readonly input: Input;
  readonly problems: readonly string[];
}

/** The field that carries the problems from the repair to the tool's function. The schema does not mention it. */
const PROBLEMS_KEY = "_problems";

/**
 * Makes a tool answer malformed input instead of throwing. LangChain validates arguments before it calls the tool, and an error
 * there crashes an agent with tool-call middleware. So the arguments are repaired first, and the tool's function finds the problems
 * under {@link PROBLEMS_KEY}.
 */
export function answering<Tool extends Pick<DynamicStructuredTool, "call">>(
  tool: Tool,
  repair: (received: Record<string, unknown>) => Repaired<object>,
): Tool {
  const call = tool.call.bind(tool) as (...args: unknown[]) => Promise<unknown>;
  const answer = (received: unknown, ...rest: unknown[]): Promise<unknown> => {
    const { input, problems } = repair(fieldsOf(received));
    return call(problems.length === 0 ? input : { ...input, [PROBLEMS_KEY]: problems }, ...rest);
  };
  return Object.assign(tool, { call: answer });
}

/** The root run of a call of one of the memory's own tools: its result says nothing about how the agent's work went. */
export function noteOwnCall({ runs }: Pick<MemoryParts, "runs">, config: ToolRunnableConfig): RootRun | undefined {
  const root = findRun(runs, config.callbacks).run?.root;
  if (config.toolCall?.id !== undefined) root?.ownCalls.add(config.toolCall.id);
  return root;
}

/** The problems that a repair found. */
export function problemsOf(input: object): readonly string[] {
  const problems = (input as Record<string, unknown>)[PROBLEMS_KEY];
  return Array.isArray(problems) ? (problems as string[]) : [];
}
