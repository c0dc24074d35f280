import { once } from "node:events";
import { type Dashboard, type DashboardOptions, startDashboard } from "../dashboard/server.js";
import { CommandError } from "../exit-codes.js";
import type { Input, Output } from "./command.js";

const FIRST_PORT = 4180;
/** Ports that are tried where none is named. */
const PORTS = 20;

/** Runs until it is interrupted. */
export async function run({ open, options, note }: Input): Promise<Output> {
  const {
    port,
    namespace,
    allowHost = [],
  } = options as { readonly port?: number; readonly namespace?: string; readonly allowHost?: readonly string[] };
  const { store, place } = await open();
  const given = { store, place, namespace, allowedHosts: allowHost };
  const ports = port === undefined ? Array.from({ length: PORTS }, (_, i) => FIRST_PORT + i) : [port];
  const dashboard = await startOnFirstFree(given, ports);
  note(`Dashboard of ${place}, for reading only. Open it in a browser; end it with Ctrl-C.`);
  const interrupted = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  return {
    data: { url: dashboard.url, store: place },
    text: () => dashboard.url,
    ended: interrupted.then(() => dashboard.close()),
  };
}

/** @throws CommandError USAGE where all of the ports are taken */
async function startOnFirstFree(given: Omit<DashboardOptions, "port">, ports: readonly number[]): Promise<Dashboard> {
  for (const port of ports) {
    try {
      return await startDashboard({ ...given, port });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    }
  }
  const taken = ports.length === 1 ? `Port ${ports[0]} is` : `Ports ${ports[0]} to ${ports.at(-1)} are`;
  throw new CommandError("USAGE", `${taken} taken. Name another with --port.`);
}
