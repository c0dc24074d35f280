import type { DynamicStructuredTool } from "@langchain/core/tools";

/** What a model sent, in the shape that the tool's schema asks for, and what had to be left out. */
export interface Repaired<Input> {
  readonly input: Input;
  readonly problems: readonly string[];
}

/** The field that carries the problems from the repair to the tool's function. The schema does not mention it. */
export const PROBLEMS_KEY = "_problems";

/**
 * Makes a tool answer malformed input instead of throwing: LangChain validates arguments before it calls the tool, and an
 * agent with tool-call middleware crashes on what that throws. The arguments are repaired first; the tool's function finds
 * what was wrong under {@link PROBLEMS_KEY}.
 */
export function answering<Tool extends Pick<DynamicStructuredTool, "call">>(
  tool: Tool,
  repair: (received: Record<string, unknown>) => Repaired<Record<string, unknown>>,
): Tool {
  const call = tool.call.bind(tool) as (...args: unknown[]) => Promise<unknown>;
  const answer = (received: unknown, ...rest: unknown[]): Promise<unknown> => {
    const { input, problems } = repair(asRecord(received));
    return call(problems.length === 0 ? input : { ...input, [PROBLEMS_KEY]: problems }, ...rest);
  };
  return Object.assign(tool, { call: answer });
}

/** The problems that a repair found. */
export function problemsOf(input: object): readonly string[] {
  const problems = (input as Record<string, unknown>)[PROBLEMS_KEY];
  return Array.isArray(problems) ? (problems as string[]) : [];
}

function asRecord(received: unknown): Record<string, unknown> {
  return typeof received === "object" && received !== null && !Array.isArray(received)
    ? (received as Record<string, unknown>)
    : {};
}
