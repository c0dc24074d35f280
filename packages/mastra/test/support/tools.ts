import { createTool } from "@mastra/core/tools";
import { type AnyWorkflow, createStep, createWorkflow } from "@mastra/core/workflows";
import { z } from "zod";

/** The schema of a tool without arguments. */
export const NO_INPUT = { type: "object", properties: {} } as unknown as undefined;

type Tool = ReturnType<typeof createTool>;

/** Tools that do one thing each, by the name that scripts call. */
export const tools: Record<"works" | "fails" | "failsQuietly" | "strict" | "asks" | "needsApproval", Tool> = {
  works: createTool({ id: "works", description: "Works.", inputSchema: NO_INPUT, execute: async () => ({ ok: true }) }),
  fails: createTool({
    id: "fails",
    description: "Fails.",
    inputSchema: NO_INPUT,
    execute: async () => {
      throw new Error("the tool failed");
    },
  }),
  failsQuietly: createTool({
    id: "failsQuietly",
    description: "Fails as tools of MCP do.",
    inputSchema: NO_INPUT,
    execute: async () => ({ content: [{ type: "text", text: "the tool failed" }], isError: true }),
  }),
  strict: createTool({
    id: "strict",
    description: "Takes a number.",
    inputSchema: {
      type: "object",
      properties: { count: { type: "number" } },
      required: ["count"],
    } as unknown as undefined,
    execute: async () => ({ ok: true }),
  }),
  asks: createTool({
    id: "asks",
    description: "Suspends until somebody answers.",
    inputSchema: NO_INPUT,
    execute: async (
      _input: unknown,
      context: { agent?: { resumeData?: unknown; suspend(payload: unknown): unknown } },
    ) => (context.agent?.resumeData ? { answered: true } : context.agent?.suspend({ why: "a person must answer" })),
  } as never),
  needsApproval: createTool({
    id: "needsApproval",
    description: "Runs when a person approves.",
    inputSchema: NO_INPUT,
    requireApproval: true,
    execute: async () => ({ ok: true }),
  }),
};

const SCHEMA = z.object({});

/** A workflow that fails. An agent takes it as a tool. */
export const failingWorkflow: AnyWorkflow = createWorkflow({
  id: "flow",
  description: "Fails.",
  inputSchema: SCHEMA,
  outputSchema: SCHEMA,
})
  .then(
    createStep({
      id: "fail",
      inputSchema: SCHEMA,
      outputSchema: SCHEMA,
      execute: async () => {
        throw new Error("the workflow failed");
      },
    }),
  )
  .commit();
