import { execFile } from "node:child_process";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { commandIn } from "../src/shared/runbook.js";

const MAIN = fileURLToPath(new URL("../dist/main.mjs", import.meta.url));

/** 2026-01-01, in seconds. */
const START = 1_767_225_600;

/** The parts of a chat completion request that matter here. */
interface Asked {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

interface Said {
  readonly content: string | null;
  readonly tool_calls?: readonly object[];
}

/** A service on this machine, and what it was asked. */
interface Service {
  readonly url: string;
  readonly asked: { readonly route: string; readonly body: unknown }[];
}

const closing: (() => void)[] = [];

afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Starts a service that speaks JSON over HTTP. An answer of undefined is no such route. */
async function service(answer: (route: string, body: never, query: URLSearchParams) => unknown): Promise<Service> {
  const asked: Service["asked"] = [];
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
    const route = `${request.method} ${pathname}`;
    const body = await bodyOf(request);
    asked.push({ route, body });
    const answered = answer(route, body as never, searchParams);
    response.writeHead(answered === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answered ?? { error: { message: `No route ${route}` } }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text === "" ? undefined : JSON.parse(text);
}

/** OpenAI's route for chat completions: a model that does what the first note says. */
function openai(): Promise<Service> {
  let answers = 0;
  return service((route, asked: Asked) => {
    if (route !== "POST /v1/chat/completions") return undefined;
    const said = say(asked);
    const finish_reason = said.tool_calls ? "tool_calls" : "stop";
    answers += 1;
    return {
      // A graph takes two messages of one id for two versions of one.
      id: `chatcmpl-${answers}`,
      object: "chat.completion",
      created: START,
      model: asked.model,
      choices: [{ index: 0, finish_reason, message: { role: "assistant", ...said } }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    };
  });
}

function say({ messages, tools }: Asked): Said {
  if (!tools) return { content: commandIn(textOf(messages.at(-1)?.content)) };
  const answers = messages.filter(({ role }) => role === "tool").map(({ content }) => textOf(content));
  const [result] = answers;
  if (tools.some((tool) => tool.function.name === "read_file")) {
    if (result !== undefined) return { content: commandIn(result.split("---").at(-1) ?? "") };
    const [, first] = /^- \*\*([a-z]+)\*\*/m.exec(textOf(messages[0]?.content)) ?? [];
    return calling("read_file", { file_path: `/skills/${first}/SKILL.md` });
  }
  if (result === undefined) return calling("run", { command: commandIn(textOf(messages[0]?.content)) });
  const solved = result.startsWith("ok");
  const voted = { [solved ? "helpful" : "harmful"]: ["m1"] };
  return answers.length === 1 ? calling("report_outcome", { success: solved, ...voted }) : { content: "Done." };
}

function calling(name: string, given: object): Said {
  const call = { name, arguments: JSON.stringify(given) };
  return { content: null, tool_calls: [{ id: `call_${name}`, type: "function", function: call }] };
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : (content as { text?: string }[]).map(({ text }) => text).join("\n");
}

/** LangSmith's routes for a project and for feedback. */
function langsmith(): Promise<Service> {
  const given: object[] = [];
  return service((route, body: { run_id: string }, query) => {
    switch (route) {
      case "GET /info":
        return { version: "0.16.0", instance_flags: {} };
      case "POST /sessions":
        return { id: "11111111-1111-4111-8111-111111111111", name: "default" };
      case "POST /feedback": {
        const at = new Date(1_000 * (START + given.length)).toISOString();
        given.unshift({ ...body, created_at: at, modified_at: at });
        return body;
      }
      case "GET /feedback": {
        const offset = Number(query.get("offset") ?? 0);
        return given.slice(offset, offset + Number(query.get("limit") ?? 100));
      }
      default:
        return undefined;
    }
  });
}

describe("the examples with --live", () => {
  it.each(["agent-middleware", "feedback-later", "langgraph-interrupt", "rag-chain", "ranked-skills"])(
    "%s asks a model over HTTP, and gets everything right in the end",
    async (name) => {
      const [model, ratings] = [await openai(), await langsmith()];
      const env = {
        ...process.env,
        OPENAI_API_KEY: "test",
        OPENAI_BASE_URL: `${model.url}/v1`,
        LANGSMITH_API_KEY: "test",
        LANGSMITH_ENDPOINT: ratings.url,
      };
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [MAIN, name, "--live"], { env });
      expect(stdout).toMatch(/^right +[1-3] of 4 +4 of 4$/m);
      expect(stderr).toBe("");
      // Eight rounds of four incidents; feedback comes after a first day, and for eight.
      expect(model.asked.length).toBeGreaterThanOrEqual(32);
      const rated = ratings.asked.filter(({ route }) => route === "POST /feedback");
      expect(rated).toHaveLength(name === "feedback-later" ? 32 : 0);
    },
  );

  it("say that a key is missing", async () => {
    const env = { ...process.env, OPENAI_API_KEY: "" };
    const run = promisify(execFile)(process.execPath, [MAIN, "rag-chain", "--live"], { env });
    await expect(run).rejects.toThrow("OPENAI_API_KEY");
  });
});
