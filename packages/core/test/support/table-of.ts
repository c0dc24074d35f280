import type { Learner, MemoryTable } from "../../src/learners/index.js";

/** Decoded states as `Learner.score` takes them: in a table, with a row each. */
export function tableOf<Memory, Table extends MemoryTable>(
  learner: Pick<Learner<unknown, Memory, Table>, "createTable" | "memory">,
  memories: readonly (Memory | undefined)[],
): { table: Table; rows: Int32Array } {
  const table = learner.createTable();
  const rows = Int32Array.from(memories, (memory) => {
    const bytes = memory === undefined ? undefined : learner.memory.encode(memory, 0);
    return bytes && bytes.length > 0 ? table.put(bytes) : -1;
  });
  return { table, rows };
}
