import { type PostgresServer, startServer } from "@qavr/postgres-server";
import { Pool } from "pg";
import { afterAll } from "vitest";
import { closing } from "../../../core/test/support/closing.js";
import { postgresStore } from "../../src/index.js";

/** The server of one test file. */
export interface TestServer extends PostgresServer {
  /** Name of a schema of the test's own, which is not there yet. */
  schema(): string;
  drop(schema: string): Promise<void>;
  /** One pool for all stores of the file. */
  readonly pool: Pool;
}

/**
 * Starts a server for this test file, and stops it after the last test.
 *
 * @param settings of the server. By default it does not wait for the disk: what is tested survives a crash of the server without. Nor
 *   does it vacuum: see `ledgers.ts`.
 * @param start starts a server of another version
 */
export async function testServer(
  settings: Readonly<Record<string, string>> = {},
  start: typeof startServer = startServer,
): Promise<TestServer> {
  const server = await start({ settings: { fsync: "off", autovacuum: "off", max_connections: "200", ...settings } });
  let schemas = 0;
  const pool = new Pool({ connectionString: server.url(), max: 20 });
  pool.on("error", () => {});
  afterAll(async () => {
    await pool.end();
    await server.stop();
  });
  return {
    ...server,
    schema: () => `test_${++schemas}`,
    drop: async (schema) => void (await pool.query(`drop schema if exists "${schema}" cascade`)),
    pool,
  };
}

/** A store that is closed when the test has ended. */
export function openStore(options: Parameters<typeof postgresStore>[0]): ReturnType<typeof postgresStore> {
  return closing(postgresStore(options));
}
