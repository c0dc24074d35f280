import { afterAll } from "vitest";
import { startDashboard } from "../../src/dashboard/server.js";
import { openStore } from "../../src/open-ledger.js";

/** The page as it is built. */
export const ASSETS: URL = new URL("../../dist/page/", import.meta.url);

export const PAGES = ["overview", "memories", "memory", "runs", "run", "health"] as const;
export type PageName = (typeof PAGES)[number];

/** Text that only the page's own data brings. */
export const CONTENT: Readonly<Record<PageName, string>> = {
  overview: "Success of judged runs",
  memories: "Utility and exposure",
  memory: "What was learned about it",
  runs: "Latest runs",
  run: "how it adds up",
  health: "the whole ledger compared with its digests",
};

interface Served {
  /** With the token. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves dashboards on ledgers, and closes all of them at the end of the test file. */
export function servers(): { serve(path: string): Promise<Served> } {
  const started: Served[] = [];
  afterAll(async () => {
    for (const server of started) await server.close();
  });
  return {
    async serve(path) {
      const { store, place } = await openStore(path, "read");
      const dashboard = await startDashboard({ store, place, port: 0, allowedHosts: [], assets: ASSETS });
      const close = async (): Promise<void> => {
        await dashboard.close();
        await store.close();
      };
      started.push({ url: dashboard.url, close });
      return { url: dashboard.url, close };
    },
  };
}
