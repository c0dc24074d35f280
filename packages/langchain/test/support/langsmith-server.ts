import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "langsmith";

/** One feedback as the server keeps it. */
export interface StoredFeedback {
  readonly id: string;
  readonly run_id: string | null;
  readonly trace_id?: string | null;
  readonly key: string;
  readonly score: number | boolean | null;
  readonly value: unknown;
  readonly comment: string | null;
  readonly feedback_source: { readonly type: string; readonly metadata?: object };
  readonly created_at: string;
  readonly modified_at: string;
}

/** A LangSmith on this machine: the routes that the client calls, over HTTP. */
export interface LangSmithServer {
  readonly client: Client;
  readonly feedback: StoredFeedback[];
  /** Runs as their last patch left them, by id. */
  readonly runs: Map<string, Record<string, unknown>>;
  /** Query strings of the feedback pages that were asked for. */
  readonly pages: URLSearchParams[];
  /** Called before a page is cut from the list: to add, delete or fail. */
  beforePage: (page: number) => void;
  order: (a: StoredFeedback, b: StoredFeedback) => number;
  /** Adds feedback without a request. */
  add(feedback: Partial<StoredFeedback> & Pick<StoredFeedback, "run_id">): StoredFeedback;
  close(): Promise<void>;
}

export const newestFirst = (a: StoredFeedback, b: StoredFeedback): number => b.created_at.localeCompare(a.created_at);
export const oldestFirst = (a: StoredFeedback, b: StoredFeedback): number => a.created_at.localeCompare(b.created_at);
/** No order in time at all. */
export const byId = (a: StoredFeedback, b: StoredFeedback): number => a.id.localeCompare(b.id);

/** The largest page that the real server gives. */
const MAX_PAGE = 100;
const START = Date.parse("2026-01-01T00:00:00Z");

export async function langsmithServer(): Promise<LangSmithServer> {
  let ticks = 0;
  const tick = (): string => new Date(START + 60_000 * ticks++).toISOString();
  const feedback: StoredFeedback[] = [];
  const runs = new Map<string, Record<string, unknown>>();
  const pages: URLSearchParams[] = [];

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "", "http://localhost");
    const [resource, id] = url.pathname.slice(1).split("/");
    const body = await bodyOf(request);
    switch (`${request.method} /${resource}`) {
      case "GET /info":
        return send(response, 200, { version: "0.16.0", instance_flags: {} });
      case "GET /feedback":
        pages.push(url.searchParams);
        server.beforePage(pages.length);
        return send(response, 200, select(url.searchParams));
      case "POST /feedback":
        server.add(body as never);
        return send(response, 200, body);
      case "PATCH /feedback": {
        const place = feedback.findIndex((stored) => stored.id === id);
        if (place < 0) return send(response, 404, { detail: "Feedback not found" });
        feedback[place] = { ...(feedback[place] as StoredFeedback), ...body, modified_at: tick() };
        return send(response, 200, feedback[place]);
      }
      case "POST /runs":
        runs.set(String(body.id), body);
        return send(response, 202, {});
      case "PATCH /runs":
        runs.set(id as string, { ...runs.get(id as string), ...body });
        return send(response, 202, {});
      default:
        return send(response, 404, { detail: `No route ${request.method} ${url.pathname}` });
    }
  };

  const select = (query: URLSearchParams): StoredFeedback[] => {
    const [keys, sources, about] = [query.getAll("key"), query.getAll("source"), query.getAll("run")];
    const offset = Number(query.get("offset") ?? 0);
    const limit = Math.min(Number(query.get("limit") ?? MAX_PAGE), MAX_PAGE);
    return feedback
      .filter(({ key }) => keys.length === 0 || keys.includes(key))
      .filter(({ feedback_source }) => sources.length === 0 || sources.includes(feedback_source.type))
      .filter(({ run_id }) => about.length === 0 || about.includes(String(run_id)))
      .sort((a, b) => server.order(a, b))
      .slice(offset, offset + limit);
  };

  const http = createServer((request, response) => {
    // A status that the client does not try again.
    answer(request, response).catch((error: unknown) => send(response, 400, { detail: String(error) }));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const apiUrl = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const server: LangSmithServer = {
    client: new Client({ apiUrl, apiKey: "test", autoBatchTracing: false, callerOptions: { maxRetries: 0 } }),
    feedback,
    runs,
    pages,
    beforePage: () => undefined,
    order: newestFirst,
    add(given) {
      const at = given.created_at ?? tick();
      const stored: StoredFeedback = {
        id: `00000000-0000-4000-8000-${String(feedback.length).padStart(12, "0")}`,
        key: "user_score",
        score: null,
        value: null,
        comment: null,
        feedback_source: { type: "api" },
        modified_at: at,
        ...given,
        created_at: at,
      };
      feedback.push(stored);
      return stored;
    },
    close: () => new Promise<void>((resolve) => http.close(() => resolve())),
  };
  return server;
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json", connection: "close" });
  response.end(JSON.stringify(body));
}
