import { type PostgresServer, startServer } from "@qavr/postgres-server";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { counting, tally } from "../../core/test/support/counting.js";
import { type PostgresStoreOptions, postgresStore } from "../src/index.js";
import { changeSetting } from "./support/change-setting.js";

/** Sessions that wait for nothing leave their log in memory for so long that it is lost with the server. */
const LAZY = { wal_writer_delay: "10s", wal_writer_flush_after: "100MB" };

describe("an acknowledged commit", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startServer({ settings: LAZY });
  });
  afterAll(() => server.stop());

  /** Commits until a process knows itself to be alone, has the setting changed, and says what a crash leaves of later commits. */
  async function keptThroughCrash(options: PostgresStoreOptions, change: () => Promise<void>): Promise<number> {
    const store = postgresStore(options);
    for (const key of ["a", "b"]) await store.commit("n", [tally(key)], counting);
    await change();
    for (const key of ["c", "d", "e"]) await store.commit("n", [tally(key)], counting);
    await server.kill();
    await server.restart();
    await store.close();
    const after = postgresStore(server.url());
    const head = await after.head("n");
    await after.eraseNamespace("n");
    await after.close();
    return head;
  }

  it("survives a crash although synchronous_commit was switched off by a session of the application's pool", async () => {
    const pool = new Pool({ connectionString: server.url(), max: 1 });
    pool.on("error", () => {});
    const switchOff = async (): Promise<void> => void (await pool.query("set synchronous_commit = off"));
    expect(await keptThroughCrash({ pool }, switchOff)).toBe(5);
    await pool.end();
  });

  it("survives a crash although synchronous_commit was switched off for the server after the first call", async () => {
    const admin = new Pool({ connectionString: server.url(), max: 1 });
    const switchOff = async (): Promise<void> => {
      await changeSetting(admin, "synchronous_commit", "off");
      await admin.end();
    };
    expect(await keptThroughCrash({ connectionString: server.url() }, switchOff)).toBe(5);
  });
});
