import { postgresStore } from "@qavr/postgres";
import { type PostgresServer, startServer } from "@qavr/postgres-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { strictPooler } from "../../postgres/test/support/strict-pooler.js";
import { openStore } from "../src/open-ledger.js";
import { appEngine, ledgerFile, newPath, runApp } from "./support/ledgers.js";
import { dataOf, qavr } from "./support/run.js";

let server: PostgresServer;
beforeAll(async () => {
  server = await startServer({ settings: { fsync: "off" } });
});
afterAll(() => server.stop());

describe("a ledger in PostgreSQL", () => {
  it("is moved there and back, with the same digest and the same answers", async () => {
    const from = await ledgerFile({ runs: 30 });
    const there = await dataOf("ledger", "move", "-s", from, "--to", server.url());
    expect(there).toMatchObject({ namespaces: 1, entries: 60 });
    const to = newPath();
    const back = await dataOf("ledger", "move", "-s", server.url(), "--to", to);
    expect((back as { digest: string }).digest).toBe((there as { digest: string }).digest);
    for (const command of [["memories"], ["runs"], ["why", "d3"]]) {
      const expected = await dataOf(...command, "-s", from);
      expect(await dataOf(...command, "-s", server.url())).toEqual(expected);
      expect(await dataOf(...command, "-s", to)).toEqual(expected);
    }
    const other = await ledgerFile({ runs: 5, namespace: "other" });
    for (const [source, code, says] of [
      [other, 5, "Name an empty place"],
      [server.url(), 2, "the same ledger"],
    ] as const) {
      const refused = await qavr("ledger", "move", "-s", source, "--to", server.url());
      expect(refused).toMatchObject({ exitCode: code, stderr: expect.stringContaining(says) });
    }
    expect(await dataOf("status", "-s", server.url())).toMatchObject({ runs: { recorded: 30 } });
  });

  it("is found in the schema that its URL names", async () => {
    const engine = appEngine(postgresStore({ connectionString: server.url(), schema: "agent_memory" }));
    await runApp(engine, { runs: 4, namespace: "elsewhere" });
    await engine.close();
    const url = `${server.url()}?qavr_schema=agent_memory`;
    expect(await dataOf("status", "-s", url, "-n", "elsewhere")).toMatchObject({ runs: { taught: 4 } });
  });

  it("is read by the command line on connections that cannot write", async () => {
    const { store } = await openStore(server.url(), "read");
    const engine = appEngine(store);
    await expect(runApp(engine, { runs: 1 })).rejects.toThrow();
    await engine.close();
  });

  it("is read through a pooler that refuses settings", async () => {
    const engine = appEngine(postgresStore({ connectionString: server.url() }));
    await runApp(engine, { runs: 2, namespace: "pooled" });
    await engine.close();
    const pooler = await strictPooler(server.port);
    const status = await dataOf("status", "-s", pooler.url(server.url()), "-n", "pooled");
    expect(status).toMatchObject({ runs: { taught: 2 } });
    await pooler.close();
  });

  it("is read while an application writes", async () => {
    const engine = appEngine(postgresStore({ connectionString: server.url() }), {
      createId: () => crypto.randomUUID(),
    });
    await runApp(engine, { runs: 3, namespace: "beside" });
    expect(await dataOf("status", "-s", server.url(), "-n", "beside")).toMatchObject({ runs: { taught: 3 } });
    await engine.close();
  });

  it("cannot have shards on a server that is no cluster", async () => {
    const { exitCode, stdout } = await qavr("ledger", "shards", "4", "-s", server.url(), "--json");
    expect(exitCode).not.toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "UNSUPPORTED" } });
  });

  it("is not brought back from a cluster by an empty number of shards", async () => {
    const { stdout } = await qavr("ledger", "shards", "", "-s", server.url(), "--json");
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "INVALID_ARGUMENT" } });
  });

  it("may be named by several servers, without the password", async () => {
    const { store, place } = await openStore("postgres://a:secret@one:5432,two:5433/app?sslmode=require", "read");
    expect(place).toBe("postgres://a@one:5432,two:5433/app");
    await store.close();
  });

  it("may be named by a socket in ?host=, with a user and a password", async () => {
    const { store, place } = await openStore("postgres://a:secret@/app?host=/cloudsql/one:two:three", "read");
    expect(place).toBe("postgres://a@/app");
    await store.close();
    const { hostname, port, password } = new URL(server.url());
    const query = new URLSearchParams({ host: hostname, port });
    expect(await dataOf("ledger", "verify", "-s", `postgres://postgres:${password}@/postgres?${query}`)).toMatchObject({
      ok: true,
    });
  });

  it("is named without the password", async () => {
    const { stdout } = await qavr("status", "-s", server.url(), "--json");
    expect(stdout).toContain("postgres://");
    expect(stdout).not.toContain("only%20for%20tests");
    expect(stdout).not.toContain("only for tests");
  });
});
