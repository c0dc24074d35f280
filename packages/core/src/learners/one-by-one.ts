import type { MemoryTable, ScoreRequest, Scores, StateCodec } from "./learner.js";

/** The codec of a learner without state about a collection, or about a memory. */
export const noState: StateCodec<null> = {
  empty: () => null,
  decode: () => null,
  encode: (_, room) => new Uint8Array(room),
  problem: () => undefined,
};

/** A table of decoded states, for learners whose states are small. */
export class DecodedTable<Memory> implements MemoryTable {
  readonly #codec: StateCodec<Memory>;
  readonly #states: Memory[] = [];
  #size = 0;

  constructor(codec: StateCodec<Memory>) {
    this.#codec = codec;
  }

  get size(): number {
    return this.#size;
  }

  put(bytes: Uint8Array, row: number = this.#states.length): number {
    if (row === this.#states.length) this.#size += bytes.length;
    this.#states[row] = this.#codec.decode(bytes);
    return row;
  }

  /** The state of a row, undefined for −1. */
  at(row: number): Memory | undefined {
    return this.#states[row];
  }
}

/** Judgement of one candidate without regard to the others. `memory` is undefined when nothing was learned about it. */
export interface Judgement<Memory> {
  utility(memory: Memory | undefined, candidate: number): number;
  evidence(memory: Memory): number;
  score(similarity: number, utility: number, candidate: number): number;
}

/**
 * Scores candidates one by one. The host's order stays while no movable candidate has a state. The candidates after the first
 * `movable` score their similarity.
 */
export function scoreOneByOne<Memory>(
  { table, rows, similarities }: Pick<ScoreRequest<unknown, DecodedTable<Memory>>, "table" | "rows" | "similarities">,
  judgement: Judgement<Memory>,
  movable: number = similarities.length,
): Scores {
  const count = similarities.length;
  const score = Float64Array.from(similarities);
  const utility = new Float64Array(count);
  const evidence = new Float64Array(count);
  let unchanged = true;
  for (let i = 0; i < count; i++) {
    const memory = table.at(rows[i] as number);
    utility[i] = judgement.utility(memory, i);
    if (memory) evidence[i] = judgement.evidence(memory);
    if (i >= movable) continue;
    if (memory) unchanged = false;
    score[i] = judgement.score(similarities[i] as number, utility[i] as number, i);
  }
  return { score, utility, evidence, gate: 1, unchanged, ...(movable < count ? { movable } : {}) };
}
