import { rmSync, writeFileSync } from "node:fs";
import { createEngine, type Engine } from "@qavr/core";
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

/** Everything that a ledger says through the engine's surface and the store's. */
async function readAll(engine: Engine, path: string): Promise<string> {
  const store = sqliteStore({ path, readOnly: true });
  try {
    const names = await store.namespaces({ limit: 100 });
    const said = [];
    for (const name of names) {
      said.push(name, await store.head(name), await store.readEntries(name, { limit: 1_000 }));
      for (const scope of ["stats", "shared", "episode", "alias", "source", "revisit", "memory:default"]) {
        said.push(scope, await store.scanStates(name, scope, { limit: 1_000 }));
      }
      said.push(await engine.status({ namespace: name }));
    }
    return JSON.stringify(said);
  } finally {
    await store.close();
  }
}

/** A whole number in [0, below), the same for the same seed. */
function drawn(seed: number, below: number): number {
  let mixed = Math.imul(seed + 0x9e3779b9, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return Math.floor((((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32) * below);
}

/** What an undamaged copy says, by its bytes. */
const undamaged = new WeakMap<Buffer, string>();

/**
 * Flips one bit of a ledger's file and verifies it: `found` by opening or verifying, `harmless` when all that can be read is as it
 * was, else `missed`.
 */
export async function inspectFlip(
  original: Buffer,
  path: string,
  seed: number,
): Promise<"found" | "harmless" | "missed"> {
  const expected = undamaged.get(original) ?? (await saidBy(original, path));
  undamaged.set(original, expected);
  const flipped = Buffer.from(original);
  const at = drawn(2 * seed, flipped.length);
  flipped[at] = (flipped[at] as number) ^ (1 << drawn(2 * seed + 1, 8));
  try {
    const [verified, said] = await verifyBytes(flipped, path);
    if (!verified) return "found";
    return said === expected ? "harmless" : "missed";
  } catch {
    return "found";
  }
}

async function saidBy(bytes: Buffer, path: string): Promise<string> {
  const [, said] = await verifyBytes(bytes, path);
  return said;
}

async function verifyBytes(bytes: Buffer, path: string): Promise<readonly [boolean, string]> {
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
  writeFileSync(path, bytes);
  const engine = createEngine({ store: sqliteStore(path), clock: () => 1_767_225_600_000 });
  try {
    const { ok } = await engine.verify();
    return [ok, ok ? await readAll(engine, path) : ""];
  } finally {
    await engine.close();
  }
}
