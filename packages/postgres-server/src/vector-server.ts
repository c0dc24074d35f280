import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";

/** A running server with pgvector. Its data is in memory and goes when it is stopped. */
export interface VectorServer {
  /** `postgres://` URL of its one database. */
  url(): string;
  stop(): Promise<void>;
}

/** How many clients may be connected: two pools and a few of the tests' own. */
const CONNECTIONS = 32;

/**
 * Starts PostgreSQL with the extension `vector`, which {@link startServer}'s binaries do not have: PGlite, the same server
 * compiled to WebAssembly, in this process. Clients take turns, so it shows what statements do and nothing about concurrency.
 */
export async function startVectorServer(): Promise<VectorServer> {
  const db = await PGlite.create({ extensions: { vector } });
  await db.exec("CREATE EXTENSION vector");
  const server = new PGLiteSocketServer({ db, port: 0, host: "127.0.0.1", maxConnections: CONNECTIONS });
  await server.start();
  return {
    url: () => `postgres://postgres:postgres@${server.getServerConn()}/postgres`,
    async stop() {
      await server.stop();
      await db.close();
    },
  };
}
