import { once } from "node:events";
import { startDashboard } from "../dashboard/server.js";
import type { Input, Output } from "./command.js";

/** Runs until it is interrupted. */
export async function run({ open, options, note }: Input): Promise<Output> {
  const { port, allowHost = [] } = options as { readonly port: number; readonly allowHost?: readonly string[] };
  const { store, place } = await open();
  const given = { store, place, allowedHosts: allowHost.map((name) => name.toLowerCase()) };
  const dashboard = await startDashboard({ ...given, port }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE") throw error;
    note(`Port ${port} is taken; another one is used.`);
    return startDashboard({ ...given, port: 0 });
  });
  note(`Dashboard of ${place}, for reading only. Open it in a browser; end it with Ctrl-C.`);
  const interrupted = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  return {
    data: { url: dashboard.url, store: place },
    text: () => dashboard.url,
    ended: interrupted.then(() => dashboard.close()),
  };
}
