import { once } from "node:events";
import { createServer, type Socket } from "node:net";

/** Something that stands before a server, on a port of its own of this machine. */
export interface LocalProxy extends AsyncDisposable {
  readonly port: number;
  /** The server's URL by way of the proxy. */
  url(server: string): string;
  close(): Promise<void>;
}

/** A proxy that can break what leads through it. */
export interface BreakableProxy extends LocalProxy {
  /** Breaks all connections. */
  breakAll(): void;
}

/** @param lead what becomes of a connection that was made; one that it leads on must end with the other side */
export async function localProxy(lead: (client: Socket) => void): Promise<BreakableProxy> {
  const clients = new Set<Socket>();
  const proxy = createServer((client) => {
    clients.add(client);
    client.on("close", () => clients.delete(client));
    lead(client);
  }).listen(0, "localhost");
  await once(proxy, "listening");
  const { port } = proxy.address() as { port: number };
  const breakAll = (): void => {
    for (const client of clients) client.destroy();
  };
  const close = async (): Promise<void> => {
    breakAll();
    proxy.close();
    await once(proxy, "close");
  };
  return {
    port,
    url: (server) => server.replace(/:\d+\//, `:${port}/`),
    breakAll,
    close,
    [Symbol.asyncDispose]: close,
  };
}
