import type { AsyncLocalStorage } from "node:async_hooks";

interface Judging {
  readonly memory: object;
  isOver: boolean;
}

let storage: AsyncLocalStorage<Judging> | undefined;

/** Asks a judge of a memory such that {@link isJudging} is true in its code. Runtimes without AsyncLocalStorage do without. */
export async function judging<Verdict>(memory: object, ask: () => Promise<Verdict>): Promise<Verdict> {
  const { process } = globalThis;
  // The process of Next.js's edge runtime has no version, and functions that throw.
  const hooks = process?.version === undefined ? undefined : process.getBuiltinModule?.("node:async_hooks");
  if (!hooks) return ask();
  storage ??= new hooks.AsyncLocalStorage();
  const asked: Judging = { memory, isOver: false };
  try {
    return await storage.run(asked, ask);
  } finally {
    // Work that the judge left behind may wait for all runs again.
    asked.isOver = true;
  }
}

/** True in the code of a judge of this memory, which must not wait for its own verdict. */
export function isJudging(memory: object): boolean {
  const asked = storage?.getStore();
  return asked?.memory === memory && !asked.isOver;
}
