import { createConnection } from "node:net";
import { type LocalProxy, localProxy } from "@qavr/postgres-server";

/** Rules of a pooler in front of a server. */
export interface StrictPooler extends LocalProxy {
  /** Everything that was sent to the server. */
  sent(): string;
}

/** Settings that PgBouncer lets a connection begin with. */
const KNOWN = new Set(["user", "database", "client_encoding", "application_name"]);
/** Length and protocol version come before the settings. */
const SETTINGS_AT = 8;

/** Refuses connections with initial settings, as PgBouncer does unless configured to ignore them. */
export async function strictPooler(serverPort: number): Promise<StrictPooler> {
  let sent = "";
  const pooler = await localProxy((client) => {
    client.on("error", () => client.destroy());
    client.once("data", (startup: Buffer) => {
      const pairs = startup.toString("utf8", SETTINGS_AT).split("\0");
      const refused = pairs.find((name, place) => place % 2 === 0 && name !== "" && !KNOWN.has(name));
      if (refused !== undefined) {
        client.end(fatal("08P01", `unsupported startup parameter: ${refused}`));
        return;
      }
      const server = createConnection(serverPort, "localhost");
      server.on("error", () => client.destroy());
      server.on("close", () => client.destroy());
      client.on("close", () => server.destroy());
      client.on("data", (chunk: Buffer) => {
        sent += chunk.toString("latin1");
      });
      server.write(startup);
      client.pipe(server).pipe(client);
    });
  });
  return { ...pooler, sent: () => sent };
}

/** An error as the server's protocol has it. */
function fatal(sqlState: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${sqlState}\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
