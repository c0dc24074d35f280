import { setTimeout as pause } from "node:timers/promises";
import type { Store } from "@qavr/core";
import { expect } from "vitest";
import { postgresStore } from "../../src/index.js";
import { countIn, counting, tally } from "./counting.js";
import type { TestServer } from "./server.js";

export interface KillTally {
  readonly kills: number;
  readonly acknowledged: number;
  /** Calls that were refused while the server was down, and repeated. */
  readonly refused: number;
}

const WRITERS = 4;

/**
 * Kills the server with SIGKILL again and again while outcomes are recorded, and expects every acknowledged one in its place and every
 * one counted once. Callers repeat what was refused, as they would.
 */
export async function surviveKills(server: TestServer, kills: number): Promise<KillTally> {
  const schema = server.schema();
  const store = postgresStore({ connectionString: server.url(), schema });
  await store.head("n");
  const acknowledged = new Map<string, number>();
  let refused = 0;
  let running = true;

  const write = async (writer: number): Promise<void> => {
    for (let n = 0; running; n++) {
      const key = `w${writer}-${n}`;
      const receipt = await untilAnswered(store, key, () => {
        refused += 1;
      });
      acknowledged.set(key, receipt);
    }
  };
  const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
  for (let kill = 0; kill < kills; kill++) {
    const before = acknowledged.size;
    while (acknowledged.size < before + 10) await pause(1);
    // Somewhere within the next commits.
    await pause((kill * 7) % 23);
    await server.kill();
    await server.restart();
  }
  running = false;
  await Promise.all(writers);
  await store.close();

  const after = postgresStore({ connectionString: server.url(), schema });
  const found = new Map<string, number>();
  for (let last = 0; ; ) {
    const entries = await after.readEntries("n", { after: last, limit: 10_000 });
    for (const { key, seq } of entries) {
      expect(found.has(key), `${key} twice`).toBe(false);
      found.set(key, seq);
    }
    if (entries.length === 0) break;
    last += entries.length;
  }
  expect(found).toEqual(acknowledged);
  expect(await countIn(after)).toBe(acknowledged.size);
  await after.close();
  return { kills, acknowledged: acknowledged.size, refused };
}

async function untilAnswered(store: Store, key: string, onRefusal: () => void): Promise<number> {
  for (;;) {
    try {
      const [receipt] = await store.commit("n", [tally(key)], counting);
      if (!receipt || receipt.status === "conflict") throw new Error(`${key} met another payload.`);
      return receipt.seq;
    } catch (error) {
      expect(error).toHaveProperty("code", expect.stringMatching(/^STORE_(UNAVAILABLE|COMMIT_UNKNOWN)$/));
      onRefusal();
      await pause(20);
    }
  }
}
