import { bareHandle } from "@qavr/core/adapter";
import type { RecalledMemory } from "../runs/verdict.js";
import type { ReflectionAnswer } from "./ask-for-reflection.js";

/** A model's votes as ids, and the names that cannot be one. */
export interface ResolvedVotes {
  readonly helpful: string[];
  readonly harmful: string[];
  readonly ignored: string[];
}

/**
 * Finds the memories that a model named by handle or id, with or without brackets. One that was not shown is ignored, as is one
 * on both sides: nobody knows which was meant.
 */
export function resolveVotes(
  { helpfulMemories, harmfulMemories }: Pick<ReflectionAnswer, "helpfulMemories" | "harmfulMemories">,
  shown: readonly RecalledMemory[],
): ResolvedVotes {
  const idOf = (name: string): string | undefined => {
    const bare = bareHandle(name);
    return (shown.find(({ id }) => id === bare) ?? shown.find(({ handle }) => handle === bare))?.id;
  };
  const helpful = new Set(helpfulMemories.map(idOf));
  const harmful = new Set(harmfulMemories.map(idOf));
  const counts = (id: string | undefined): id is string => id !== undefined && !(helpful.has(id) && harmful.has(id));
  return {
    helpful: [...helpful].filter(counts),
    harmful: [...harmful].filter(counts),
    ignored: [...new Set([...helpfulMemories, ...harmfulMemories].filter((name) => !counts(idOf(name))))],
  };
}
