import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { QavrError, type Store } from "@qavr/core";
import { CommandError, EXIT, exitCodeOf } from "../exit-codes.js";
import { hasToken, refusalOf } from "./access.js";
import { createApi } from "./api.js";

export interface DashboardOptions {
  readonly store: Store;
  readonly place: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** The one that its address opens. @default the ledger's `default`, else its largest */
  readonly namespace?: string | undefined;
  /** Names under which it may be opened, besides those of this machine. */
  readonly allowedHosts: readonly string[];
  /** Folder of the page's files. @default beside this program */
  readonly assets?: URL;
}

export interface Dashboard {
  /** With the token in its fragment, which a browser sends to no server. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = {
  "index.html": "text/html; charset=utf-8",
  "app.js": "text/javascript; charset=utf-8",
  "app.css": "text/css; charset=utf-8",
  "data.css": "text/css; charset=utf-8",
};

const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; script-src-attr 'none'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-store",
};

const STATUS: Readonly<Record<number, number>> = {
  [EXIT.usage]: 400,
  [EXIT.notFound]: 404,
  [EXIT.conflict]: 409,
  [EXIT.unavailable]: 503,
};

/** Serves the dashboard on this machine's loopback address. Reads only. */
export async function startDashboard({
  store,
  place,
  port,
  namespace,
  allowedHosts,
  assets = new URL("./page/", import.meta.url),
}: DashboardOptions): Promise<Dashboard> {
  const token = randomBytes(24).toString("base64url");
  const api = createApi(store, place);

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refusal = refusalOf(request, allowedHosts);
    if (refusal) {
      const { status, ...error } = refusal;
      return json(response, status, { error });
    }
    const address = URL.parse(request.url ?? "/", "http://localhost");
    if (!address) return json(response, 400, { error: { code: "ADDRESS", message: "This is no address." } });
    const { pathname, searchParams } = address;
    if (!pathname.startsWith("/api/")) return asset(response, pathname.slice(1) || "index.html", assets);
    if (!hasToken(request, token)) {
      const message = "Open the address that npx qavr dashboard printed when it was started last.";
      return json(response, 401, { error: { code: "TOKEN", message } });
    }
    try {
      json(response, 200, { data: await api.answer(pathname.slice("/api/".length), searchParams) });
    } catch (error) {
      const known = error instanceof CommandError || QavrError.isInstance(error);
      // The text of an unknown error may hold a secret of the environment.
      const message = known ? error.message : "The dashboard failed. Its terminal has more.";
      if (!known) process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      json(response, STATUS[exitCodeOf(error)] ?? 500, { error: { code: known ? error.code : "UNEXPECTED", message } });
    }
  };

  const server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const taken = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${taken}/${namespace === undefined ? "" : `?${new URLSearchParams({ namespace })}`}#t=${token}`,
    port: taken,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { ...HEADERS, "content-type": "application/json; charset=utf-8" });
  response.end(JSON.stringify(body));
}

async function asset(response: ServerResponse, name: string, assets: URL): Promise<void> {
  const type = TYPES[name];
  const content = type && (await readFile(new URL(name, assets)).catch(() => undefined));
  if (!content) return json(response, 404, { error: { code: "NOT_FOUND", message: "There is no such file." } });
  response.writeHead(200, { ...HEADERS, "content-type": type });
  response.end(content);
}
