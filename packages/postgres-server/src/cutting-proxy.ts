import { createConnection } from "node:net";
import { type LocalProxy, localProxy } from "./local-proxy.js";

/** A network between a store and its server that can be cut. */
export interface CuttingProxy extends LocalProxy {
  /**
   * Cuts the connection that next sends a message with this text: after the server has answered it, so that it has been done, or
   * before the server gets it.
   */
  cut(text: string, moment: "answered" | "unsent"): void;
  /**
   * Has the connection fall silent that next sends a message with this text: that message and all after it are lost, and the
   * connection stays open, also when the server has ended it.
   */
  silence(text: string): void;
  /** Breaks all connections and refuses new ones, or accepts connections again. */
  block(blocked: boolean): void;
  /** Leads new connections to another server of this machine, as an address does that was moved after a failover. */
  redirect(port: number): void;
  /** How often something was cut. */
  readonly cuts: number;
}

export async function cuttingProxy(serverPort: number): Promise<CuttingProxy> {
  let target = serverPort;
  let planned: { text: string; moment: "answered" | "unsent" } | undefined;
  let silenced: string | undefined;
  let blocked = false;
  let cuts = 0;
  const { breakAll, ...proxy } = await localProxy((client) => {
    if (blocked) {
      client.destroy();
      return;
    }
    const upstream = createConnection(target, "localhost");
    let cutting = false;
    let silent = false;
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      socket.on("error", end);
      socket.on("close", () => {
        if (socket === client || !silent) end();
      });
    }
    client.on("data", (chunk: Buffer) => {
      if (silenced !== undefined && chunk.includes(silenced)) {
        silent = true;
        silenced = undefined;
      }
      if (silent) return;
      if (planned && chunk.includes(planned.text)) {
        cuts += 1;
        cutting = true;
        const { moment } = planned;
        planned = undefined;
        if (moment === "unsent") {
          end();
          return;
        }
      }
      upstream.write(chunk);
    });
    upstream.on("data", (chunk: Buffer) => {
      if (cutting) end();
      else if (!silent) client.write(chunk);
    });
  });
  return {
    ...proxy,
    cut(text, moment) {
      planned = { text, moment };
    },
    silence(text) {
      silenced = text;
    },
    block(now) {
      blocked = now;
      if (now) breakAll();
    },
    redirect(to) {
      target = to;
    },
    get cuts() {
      return cuts;
    },
  };
}
