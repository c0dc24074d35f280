import type { LocalMemories, StoredMemory } from "@qavr/local";

/** All memories of a collection, or all that are archived. */
export async function allOf(collection: LocalMemories, archived: boolean): Promise<StoredMemory[]> {
  const memories: StoredMemory[] = [];
  let after: string | undefined;
  do {
    const page = await collection.list({ after, limit: 1_000, archived });
    memories.push(...page.memories);
    after = page.next;
  } while (after !== undefined);
  return memories;
}

/** Objects of the same fields in any order, as JSON keeps them. */
export function isEqual(a: object, b: object): boolean {
  const sorted = (value: object): string => JSON.stringify(Object.entries(value).sort(([x], [y]) => (x < y ? -1 : 1)));
  return sorted(a) === sorted(b);
}
