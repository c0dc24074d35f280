import { type ApiRoute, registerApiRoute } from "@mastra/core/server";
import { QavrError } from "@qavr/core";
import { checkFields, type FieldRules, TEXT } from "@qavr/core/adapter";
import { partsOf } from "./memory-parts.js";
import type { ReportedRun, RunReference } from "./outcomes/report-outcome.js";
import type { QavrMemory } from "./qavr-memory.js";

/** Options of {@link qavrRoutes}. */
export interface RoutesOptions {
  /** Path prefix of the routes; Mastra refuses `/api`. @default "/qavr" */
  readonly path?: string | undefined;
}

const OPTIONS: FieldRules<RoutesOptions> = { path: TEXT };

/** The parts of Hono's context that the routes use. */
interface Call {
  readonly req: { query(): Record<string, string>; json(): Promise<unknown> };
  json(body: object, status?: number): Response;
}

/** Fields of an outcome that are the server's to decide. */
const NOT_FOR_CLIENTS = ["tier", "weight", "source"] as const;

/**
 * Routes for a front-end, for `server.apiRoutes` of a Mastra:
 *
 *     GET  /qavr/explain?runId=…   one of runId, traceId, threadId, episode; with namespace and resourceId where needed
 *     GET  /qavr/status?namespace=…
 *     POST /qavr/outcome           the argument of `memory.reportOutcome`, without tier, weight and source: the tier is `user`
 *
 * An `idempotencyKey` over HTTP is another one than the same key in the application.
 * An error is `{ error: { code, message } }` with status 400, 404, 409, 410 or 503. Authentication and the choice of users that may see
 * or judge a run are the server's.
 *
 * @throws INVALID_ARGUMENT
 */
export function qavrRoutes(memory: QavrMemory, options: RoutesOptions = {}): ApiRoute[] {
  partsOf(memory);
  checkFields("qavrRoutes()", options, OPTIONS);
  const path = (options.path ?? "/qavr").replace(/\/$/, "");
  return [
    route(`${path}/explain`, "GET", async ({ req }) => {
      const view = await memory.explain(queryOf(req) as unknown as RunReference);
      if (view) return view;
      throw new QavrError("UNKNOWN_EPISODE", "No run is known by this name.");
    }),
    route(`${path}/status`, "GET", ({ req }) => memory.status(queryOf(req))),
    route(`${path}/outcome`, "POST", async ({ req }) => {
      const body: unknown = await req.json().catch(() => undefined);
      const field = NOT_FOR_CLIENTS.find((name) => Object.hasOwn(Object(body), name));
      if (field === undefined) return memory.reportOutcome(withClientKey(body) as ReportedRun);
      throw new QavrError("INVALID_ARGUMENT", `A client's outcome has no ${field}. It is the server's to decide.`);
    }),
  ];
}

/** The query without Mastra's own field, a token for its authentication. */
function queryOf(req: Call["req"]): Record<string, string> {
  const { apiKey: _, ...asked } = req.query();
  return asked;
}

/** With a key of its own for clients: under a scorer's or a run's key a client could keep a better outcome out. */
function withClientKey(body: unknown): unknown {
  const key = (body as { readonly idempotencyKey?: unknown } | null | undefined)?.idempotencyKey;
  return typeof key === "string" && key !== "" ? { ...(body as object), idempotencyKey: `client:${key}` } : body;
}

function route(path: string, method: "GET" | "POST", answer: (call: Call) => Promise<object>): ApiRoute {
  const handler = async (call: Call): Promise<Response> => {
    try {
      return call.json(await answer(call));
    } catch (error) {
      if (!QavrError.isInstance(error)) throw error;
      const { code, message } = error;
      return call.json({ error: { code, message } }, STATUS[code] ?? (code.startsWith("STORE_") ? 503 : 400));
    }
  };
  return registerApiRoute(path, { method, handler: handler as never });
}

/** HTTP statuses; 503 for the store's other codes, 400 for all others. */
const STATUS: Readonly<Partial<Record<string, number>>> = {
  UNKNOWN_EPISODE: 404,
  IDEMPOTENCY_CONFLICT: 409,
  OUTCOME_TOO_LATE: 410,
  OUTBOX_FULL: 503,
  LEARNER_MISMATCH: 503,
  INVALID_STATE: 503,
};
