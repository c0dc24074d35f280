import { Client } from "pg";

/** Runs `work` with a connection of its own to a server. */
export async function onServer<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(url);
  // The server may go while it is idle.
  client.on("error", () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Asks until the answer is yes. @throws after half a minute */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + 30_000;
  while (!(await isSo())) {
    if (performance.now() > giveUpAt) throw new Error("The server did not get there within half a minute.");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Deadlocks that a server has broken since it started. Sessions that are over have told theirs. */
export function deadlocksOf(url: string): Promise<number> {
  return onServer(url, async (client) => {
    const { rows } = await client.query("select sum(deadlocks)::int as deadlocks from pg_stat_database");
    return rows[0].deadlocks;
  });
}
