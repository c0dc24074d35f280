import { createEngine } from "@qavr/core";
import { sqliteStore } from "../../src/index.js";

const NAMESPACES = ["default", "tenant"];

/** Records `runs` runs with outcomes and votes in two namespaces, and closes the ledger. */
export async function learnedLedger(path: string, runs: number): Promise<void> {
  const engine = createEngine({ store: sqliteStore(path), clock: () => 1_767_225_600_000 });
  for (let run = 0; run < runs; run++) {
    const candidates = Array.from({ length: 8 }, (_, i) => ({
      id: `m${(run * 5 + i * 3) % 40}`,
      similarity: 0.9 - i / 20,
    }));
    const { episode } = await engine.rank({
      namespace: NAMESPACES[run % 2] as string,
      text: `request ${run % 17}`,
      candidates,
      topK: 4,
      aliases: [`run-${run}`],
    });
    await engine.end(episode, {
      reward: run % 3 !== 0,
      source: `source-${run % 5}`,
      helpful: ["m1"],
      idempotencyKey: `run-${run}`,
    });
  }
  await engine.close();
}
