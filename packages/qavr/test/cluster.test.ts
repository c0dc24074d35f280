import { postgresStore } from "@qavr/postgres";
import { type CitusCluster, type PostgresServer, startCluster } from "@qavr/postgres-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { appEngine, runApp } from "./support/ledgers.js";
import { qavr } from "./support/run.js";

/** Enough for every worker to have some. */
const NAMESPACES = Array.from({ length: 12 }, (_, tenant) => `tenant-${tenant}`);

let cluster: CitusCluster;
beforeAll(async () => {
  cluster = await startCluster({ settings: { fsync: "off" } });
  const store = postgresStore({ connectionString: cluster.coordinator.url(), shards: 8 });
  const engine = appEngine(store, { createId: () => crypto.randomUUID() });
  for (const namespace of NAMESPACES) await runApp(engine, { runs: 2, namespace });
  await engine.close();
});
afterAll(() => cluster.stop());

describe("a ledger on a cluster with a worker away", () => {
  it("is read as far as it can be, and the worker is named; nothing is changed in a namespace that the command chose", async () => {
    const [dead] = cluster.workers as [PostgresServer];
    const node = `localhost:${dead.port}`;
    const at = ["-s", cluster.coordinator.url()];
    await dead.kill();
    try {
      const verified = await qavr("ledger", "verify", ...at, "--json");
      expect(verified.stderr).toContain(`The namespaces on ${node} are not listed: it does not answer.`);
      const { ok, namespaces, damage } = JSON.parse(verified.stdout).data;
      expect({ ok, damage }).toEqual({ ok: false, damage: [{ problem: expect.stringContaining(node) }] });
      expect(namespaces).toBeGreaterThan(0);
      expect(namespaces).toBeLessThan(NAMESPACES.length);
      const status = await qavr("status", ...at);
      expect(status.exitCode).toBe(0);
      expect(status.stderr).toContain(node);
      const revoked = await qavr("revoke", "--source", "checker", "--yes", ...at);
      expect(revoked.exitCode).not.toBe(0);
      expect(revoked.stderr).toContain(node);
    } finally {
      await dead.restart();
    }
    expect(JSON.parse((await qavr("ledger", "verify", ...at, "--json")).stdout).data).toMatchObject({
      ok: true,
      namespaces: NAMESPACES.length,
    });
  });
});
