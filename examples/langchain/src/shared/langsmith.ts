import type { FeedbackClient, LangSmithFeedback } from "@qavr/langchain/langsmith";
import { Client } from "langsmith";

/** The place where people rate runs, and the project of the ratings. */
export interface LangSmith {
  readonly client: FeedbackClient & {
    createFeedback(feedback: { runId: string; sessionId: string; key: string; score: boolean }): Promise<unknown>;
  };
  readonly project: string;
}

/**
 * LangSmith in memory, or with `--live` the real one, which needs LANGSMITH_API_KEY; set LANGSMITH_TRACING=true to see the runs.
 *
 * @throws Error when a key is asked for and there is none
 */
export async function langsmith(): Promise<LangSmith> {
  if (!process.argv.includes("--live")) return inMemory();
  if (!process.env.LANGSMITH_API_KEY) throw new Error("--live needs the environment variable LANGSMITH_API_KEY.");
  const client = new Client();
  const projectName = process.env.LANGSMITH_PROJECT ?? "default";
  return { client, project: (await client.createProject({ projectName, upsert: true })).id };
}

function inMemory(): LangSmith {
  const given: LangSmithFeedback[] = [];
  const client: LangSmith["client"] = {
    async createFeedback({ runId, key, score }) {
      given.push({ id: `feedback-${given.length}`, run_id: runId, key, score, created_at: new Date().toISOString() });
    },
    async *listFeedback() {
      yield* given;
    },
  };
  return { client, project: "in memory" };
}
