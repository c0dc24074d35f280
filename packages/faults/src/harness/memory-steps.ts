import type { LocalMemories } from "@qavr/local";

/** A memory as it must be: undefined when it must not be there. */
export type ExpectedMemory = { readonly text: string; readonly archived: boolean } | undefined;

/** Ids that the steps touch, so that most steps meet a memory of earlier ones. */
const IDS = 20;
const KINDS = ["add", "add", "update", "archive", "restore", "add", "delete"] as const;

const kindOf = (n: number): (typeof KINDS)[number] => KINDS[n % KINDS.length] as (typeof KINDS)[number];
const textOf = (n: number): string => `note word${n} of everyone`;

/** The memory that step `n` touches. */
export const idOf = (n: number): string => `m${(n * 11) % IDS}`;

/** Performs step `n`; resolves when it is acknowledged. */
export async function step(memories: LocalMemories, n: number): Promise<void> {
  const kind = kindOf(n);
  if (kind === "add") await memories.add({ id: idOf(n), text: textOf(n) });
  else if (kind === "update") await memories.update(idOf(n), { text: textOf(n) });
  else await memories[kind](idOf(n));
}

/** The memory of step `n` after it. */
export function after(n: number, before: ExpectedMemory): ExpectedMemory {
  const kind = kindOf(n);
  if (kind === "add") return { text: textOf(n), archived: false };
  if (kind === "delete" || before === undefined) return undefined;
  if (kind === "update") return { ...before, text: textOf(n) };
  return { ...before, archived: kind === "archive" };
}

/** Stands for an embedding model. */
export function embedText(text: string): number[] {
  let hash = 7;
  for (const letter of text) hash = (Math.imul(hash, 31) + letter.charCodeAt(0)) >>> 0;
  return Array.from({ length: 8 }, (_, i) => ((hash >>> (i * 3)) % 97) + 1);
}
