import type { RequestContext } from "@mastra/core/request-context";
import type { LibSQLVector } from "@mastra/libsql";
import type { Engine, Store } from "@qavr/core";
import {
  type Evaluate,
  type FinishedAgentRun,
  type LearningOptions,
  type QavrMemory,
  qavrVector,
  type ReportedRun,
  type ToolCaller,
} from "@qavr/mastra";
import { describe, expectTypeOf, it } from "vitest";

// Checked by the compiler; nothing here runs.
declare const memory: QavrMemory;
declare const vector: LibSQLVector;
declare const store: Store;
declare const typed: RequestContext<{ tenant: string }>;
declare const maybe: { readonly id: string | undefined; readonly success: boolean | undefined };

describe("the types", () => {
  it("take what applications have at hand, undefined where they have nothing", () => {
    expectTypeOf<{ runId: string | undefined; success: boolean | undefined }>().toExtend<ReportedRun>();
    expectTypeOf<{
      store: string | undefined;
      evaluate: Evaluate<FinishedAgentRun> | undefined;
    }>().toExtend<LearningOptions>();
    expectTypeOf<{ engine: Engine; enabled: false; logger: undefined }>().toExtend<LearningOptions>();
    () => [
      memory.reportOutcome({ runId: maybe.id, success: maybe.success, note: maybe.id }),
      memory.reportOutcome({ threadId: "t", helpful: ["m1"], namespace: maybe.id }),
      memory.reportOutcome({ episode: "e", reward: null }),
      memory.explain({ traceId: maybe.id }),
      memory.deleteThread("t", { namespace: maybe.id, requestContext: undefined }),
      memory.deleteMessages(["m"], undefined, { namespace: maybe.id }),
      qavrVector(vector, { memory, enabled: false, collection: maybe.id }),
      qavrVector(vector, { store: maybe.id, memory: undefined }),
    ];
  });

  it("take the request context of a tool, step or application that gives it a schema", () => {
    expectTypeOf<{ requestContext: typeof typed }>().toExtend<ToolCaller>();
    () => [
      qavrVector(vector, { memory }).inRun(typed),
      memory.deleteThread("t", { requestContext: typed }),
      memory.deleteMessages(["m"], undefined, { requestContext: typed }),
    ];
  });

  it("refuse what could only be refused when it runs", () => {
    () => [
      // @ts-expect-error no run
      memory.reportOutcome({ success: true }),
      // @ts-expect-error nothing said
      memory.reportOutcome({ runId: "r" }),
      // @ts-expect-error two runs
      memory.reportOutcome({ runId: "r", threadId: "t", success: true }),
      // @ts-expect-error two words
      memory.reportOutcome({ runId: "r", success: true, reward: 1 }),
      // @ts-expect-error no run
      memory.explain({}),
      // @ts-expect-error a memory brings its store
      qavrVector(vector, { memory, store }),
    ];
  });
});
