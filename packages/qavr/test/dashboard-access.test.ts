import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { connect, createServer } from "node:net";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { memoryStore } from "@qavr/core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Dashboard, startDashboard } from "../src/dashboard/server.js";
import { openStore } from "../src/open-ledger.js";
import { ledgerFile } from "./support/ledgers.js";
import { PRINTED } from "./support/schema.js";

let dashboard: Dashboard;
let token: string;
let close: () => Promise<void>;

beforeAll(async () => {
  const { store, place } = await openStore(await ledgerFile({ runs: 3 }), "read");
  dashboard = await startDashboard({
    store,
    place,
    port: 0,
    allowedHosts: ["box.dev.example", "Forwarded.dev.example:4180"],
  });
  token = dashboard.url.split("#t=")[1] as string;
  close = async () => {
    await dashboard.close();
    await store.close();
  };
});
afterAll(() => close());

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

function ask(headers: Record<string, string>, method = "GET", path = "/api/status"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { port: dashboard.port, host: "127.0.0.1", path, method, headers, setHost: false },
      (response) => {
        let body = "";
        response.on("data", (chunk) => (body += chunk));
        response.on("end", () => resolve({ status: response.statusCode as number, headers: response.headers, body }));
      },
    );
    sent.on("error", reject);
    sent.end();
  });
}

const bearer = (): string => `Bearer ${token}`;

describe("the dashboard's server", () => {
  it.each<[string, () => string, Record<string, string>?]>([
    ["its own address", () => `127.0.0.1:${dashboard.port}`],
    ["localhost", () => `localhost:${dashboard.port}`],
    ["the other end of an ssh tunnel", () => "localhost:9999"],
    ["IPv6 loopback", () => "[::1]:4180"],
    ["a name that it was started with", () => "box.dev.example"],
    ["a name and port that it was started with", () => "forwarded.dev.example:4180"],
    ["an address that a person types", () => "localhost:1", { "sec-fetch-site": "none" }],
    ["its own page", () => "localhost:1", { "sec-fetch-site": "same-origin", origin: "http://localhost:1" }],
    ["the other end of a tunnel with TLS", () => "localhost:1", { origin: "https://localhost:1" }],
  ])("answers under %s", async (_, host, headers = {}) => {
    const { status, body } = await ask({ host: host(), authorization: bearer(), ...headers });
    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject({ data: { runs: { recorded: 3 } } });
  });

  it.each<[string, Record<string, string>, number]>([
    ["another site's name", { host: "evil.example" }, 403],
    ["a name with a trailing dot", { host: "localhost." }, 403],
    ["a name that begins like its own", { host: "localhost.evil.example" }, 403],
    ["another IPv6 address", { host: "[::2]:4180" }, 403],
    ["a foreign origin", { host: "localhost:1", origin: "http://evil.example" }, 403],
    ["another port's origin", { host: "localhost:1", origin: "http://localhost:2" }, 403],
    ["the origin null", { host: "localhost:1", origin: "null" }, 403],
    ["a script tag of another site", { host: "localhost:1", "sec-fetch-site": "cross-site" }, 403],
    ["a page on another port", { host: "localhost:1", "sec-fetch-site": "same-site" }, 403],
    ["no token", { host: "localhost:1", authorization: "" }, 401],
    ["a wrong token", { host: "localhost:1", authorization: "Bearer wrong" }, 401],
  ])("refuses %s", async (_, headers, status) => {
    const answer = await ask({ authorization: bearer(), ...headers });
    expect(answer.status).toBe(status);
    expect(answer.body).not.toContain("recorded");
  });

  it.each(["POST", "PUT", "DELETE", "OPTIONS"])("refuses %s, and names no origin that may ask", async (method) => {
    const { status, headers } = await ask({ host: "localhost:1", authorization: bearer() }, method);
    expect(status).toBe(405);
    expect(headers["access-control-allow-origin"]).toBeUndefined();
  });

  it("refuses a request that names no host", async () => {
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(dashboard.port, "127.0.0.1", () =>
        socket.write(`GET /api/status HTTP/1.0\r\nauthorization: ${bearer()}\r\n\r\n`),
      );
      let text = "";
      socket.on("data", (chunk) => (text += String(chunk)));
      socket.on("close", () => resolve(text));
    });
    expect(answer).toMatch(/^HTTP\/1\.1 403/);
  });

  it.each(["/../package.json", "/%2e%2e/main.mjs", "/api/../main.mjs", "/__proto__", "/api/__proto__"])(
    "serves no other file: %s",
    async (path) => {
      expect((await ask({ host: "localhost:1", authorization: bearer() }, "GET", path)).status).toBe(404);
    },
  );

  it.each(["//", "http://[/", "*"])("survives an address that is none: %s", async (path) => {
    expect((await ask({ host: "localhost:1", authorization: bearer() }, "GET", path)).status).toBeGreaterThanOrEqual(
      400,
    );
    expect((await ask({ host: "localhost:1", authorization: bearer() })).status).toBe(200);
  });

  it("prints an unknown error, and tells the page nothing of it", async () => {
    const namespaces = (): never => {
      throw new Error("password=secret");
    };
    const printed = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    const given = { place: "a ledger", port: 0, allowedHosts: [] };
    const { url, close } = await startDashboard({ ...given, store: { ...memoryStore(), namespaces } });
    const [address, token] = url.split("#t=");
    const answer = await fetch(`${address}api/status`, { headers: { authorization: `Bearer ${token}` } });
    expect([answer.status, await answer.text()]).toEqual([500, expect.not.stringContaining("secret")]);
    expect(printed).toHaveBeenCalledWith(expect.stringContaining("password=secret"));
    printed.mockRestore();
    await close();
  });

  it("sends the page under a strict policy", async () => {
    const { status, headers } = await ask({ host: "localhost:1" }, "GET", "/");
    expect(status).toBe(200);
    expect(headers["content-security-policy"]).toMatch(
      /^default-src 'none'; script-src 'self';.*frame-ancestors 'none'; base-uri 'none'; form-action 'none'$/,
    );
    expect(headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
    });
  });

  it("listens on this machine's loopback address alone, with another token at each start", async () => {
    expect(dashboard.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#t=[\w-]{32}$/);
    const { store, place } = await openStore(await ledgerFile({ runs: 1 }), "read");
    const other = await startDashboard({ store, place, port: 0, allowedHosts: [] });
    expect(other.url.split("#t=")[1]).not.toBe(token);
    await other.close();
    await store.close();
  });
});

describe("qavr dashboard", () => {
  const start = async (...flags: string[]): Promise<ChildProcessByStdio<null, Readable, Readable>> => {
    const path = await ledgerFile({ runs: 1 });
    const program = fileURLToPath(new URL("../dist/main.mjs", import.meta.url));
    const args = [program, "dashboard", "--json", "--store", path, ...flags];
    return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  };

  it("prints its address, takes the next port where 4180 is taken, and ends when it is interrupted", async () => {
    const other = createServer();
    // Fails where another program has it already, which serves as well.
    await new Promise<void>((resolve) => other.once("error", () => resolve()).listen(4180, "127.0.0.1", resolve));
    const child = await start();
    const [printed] = await once(child.stdout, "data");
    const output = JSON.parse(String(printed)) as { data: { url: string } };
    expect(PRINTED.safeParse(output).error?.message).toBeUndefined();
    expect(new URL(output.data.url).port).toMatch(/^41(8[1-9]|9\d)$/);
    expect((await fetch(output.data.url)).status).toBe(200);
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([0, null]);
    other.close();
  });

  it("prints the address of the namespace that is named", async () => {
    const child = await start("--namespace", "default");
    const [printed] = await once(child.stdout, "data");
    child.kill("SIGINT");
    expect(JSON.parse(String(printed)).data.url).toMatch(/\/\?namespace=default#t=[\w-]{32}$/);
    await once(child, "exit");
  });

  it("refuses a port that is named and taken", async () => {
    const child = await start("--port", String(dashboard.port));
    const [[message], [exitCode]] = await Promise.all([once(child.stderr, "data"), once(child, "exit")]);
    expect(String(message)).toBe(`error: Port ${dashboard.port} is taken. Name another with --port.\n`);
    expect(exitCode).toBe(2);
  });
});
