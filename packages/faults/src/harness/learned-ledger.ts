import { createEngine, type Engine, type Store } from "@qavr/core";
import { compact, verify } from "@qavr/core/maintenance";

const RUNS = 60;
const NAMESPACES = ["default", "tenant"];
const NOW = 1_767_225_600_000;
const SCOPES = ["stats", "shared", "episode", "alias", "source", "revisit", "memory:default"];

/** Records runs with outcomes and votes in two namespaces, compacts one of them, and closes the ledger. */
export async function learnLedger(store: Store): Promise<void> {
  let now = NOW;
  const engine = createEngine({ store, clock: () => now });
  for (let run = 0; run < RUNS; run++) {
    now += 1_000;
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
  await compact(engine, { namespace: "tenant", olderThan: (1_000 * RUNS) / 2 });
  await engine.close();
}

/** Verifies a ledger and reads what it has learned. @throws the errors of opening and reading */
export async function verified(store: Store): Promise<{ readonly ok: boolean; readonly said: string }> {
  const engine = createEngine({ store, clock: () => NOW });
  try {
    const { ok } = await verify(engine);
    return { ok, said: ok ? await everything(engine, store) : "" };
  } finally {
    await engine.close();
  }
}

/** Everything that a ledger says. */
async function everything(engine: Engine, store: Store): Promise<string> {
  const said: unknown[] = [];
  for (const name of await store.namespaces({ limit: 100 })) {
    said.push(
      name,
      await store.head(name),
      await store.readEntries(name, { limit: 1_000 }),
      await store.readCheckpoint?.(name),
    );
    for (const scope of SCOPES) said.push(scope, await store.scanStates(name, scope, { limit: 1_000 }));
    said.push(await engine.status({ namespace: name }));
  }
  // Keys of what was compacted away answer, too.
  for (let run = 0; run < RUNS; run++) {
    said.push((await engine.explain(`run-${run}`, { namespace: NAMESPACES[run % 2] as string }))?.outcome);
  }
  return JSON.stringify(said);
}
