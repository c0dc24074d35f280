import { type Learner, oar } from "@qavr/core";
import type {
  Contribution,
  Lesson,
  MemoryTable,
  OarMemory,
  OarShared,
  Observation,
  ScoreRequest,
  StateCodec,
} from "@qavr/core/learner";

/**
 * How a ranking sees what the sub-ledgers of one namespace learned.
 *
 * - `alone`: the sub-ledger that gets the run ranks it, as with a namespace each
 * - `mean`: one Gaussian of several: means weighted by their precisions, precisions less one prior each added up
 * - `sum`: the sum of what each has added to the prior
 */
export const MERGES = ["alone", "mean", "sum"] as const;
export type Merge = (typeof MERGES)[number];

/** The parts of a state, one for each sub-ledger. */
interface Parts<State> {
  /** Runs so far, which the sub-ledgers get in turn. */
  runs: number;
  readonly parts: State[];
}

type Shared = Parts<OarShared>;
type Memory = Parts<OarMemory>;

/** Prior variances of `oar@2` and the rates at which they fall with a memory's information. */
const REPUTATION = { variance: 0.07, settling: 0.5 * 0.07 };
const VECTOR = { variance: 1.3, settling: 0.2 };

const base = oar();

/**
 * The default learner over `count` sub-ledgers that learn without each other: every run teaches one of them. Only for trials: outcomes
 * cannot be corrected.
 */
export function subLedgers(count: number, merge: Merge): Learner<Shared, Memory, SubLedgerTable> {
  const current = ({ runs }: Shared): number => runs % count;
  return {
    id: `oar-sub-ledgers-${count}-${merge}@1`,
    shared: partsCodec(base.shared, count),
    memory: partsCodec(base.memory, count),
    createTable: () =>
      merge === "alone"
        ? new SubLedgerTable(count, (memory) => memory.parts)
        : new SubLedgerTable(1, (memory) => [mergedMemory(memory, merge)]),
    score(request) {
      const { shared, table, rows } = request;
      const view = shared && merge === "alone" ? current(shared) : 0;
      const seen = shared && (merge === "alone" ? (shared.parts[view] as OarShared) : mergedShared(shared, merge));
      return base.score({ ...request, shared: seen, ...table.view(view, rows) } as ScoreRequest<OarShared, never>);
    },
    observe({ shared, ...rest }) {
      shared.runs += 1;
      const observed = { ...rest, shared: shared.parts[current(shared)], memories: () => [] };
      base.observe(observed as unknown as Observation<OarShared, OarMemory>);
    },
    learn({ exposures, ...rest }) {
      const inPart = exposures.map(({ shared, shown, ...exposure }) => ({
        ...exposure,
        shared: shared.parts[current(shared)] as OarShared,
        shown: shown.map((one) => ({ ...one, memory: one.memory.parts[current(shared)] as OarMemory })),
      }));
      return base.learn({ ...rest, exposures: inPart } as Lesson<OarShared, OarMemory>) as Contribution;
    },
    unlearn() {
      throw new Error("Outcomes of sub-ledgers cannot be corrected.");
    },
    discount: ({ parts }, keep) => {
      for (const part of parts) base.discount(part, keep);
    },
    describe: (memory, now) => base.describe(mergedMemory(memory, "mean"), now),
    summarize: (shared) => base.summarize(mergedShared(shared, "mean")),
  };
}

function mergedMemory({ parts }: Memory, merge: Merge): OarMemory {
  const total = (of: (part: OarMemory) => number): number => parts.reduce((sum, part) => sum + of(part), 0);
  const information = total((part) => part.information);
  /** Weight of a part's mean: its precision over that of the whole. */
  const weigh = ({ settling }: typeof VECTOR, part: OarMemory): number =>
    merge === "sum" ? 1 : (1 + settling * part.information) / (1 + settling * information);
  const vector = new Float32Array(Math.max(...parts.map((part) => part.vector.length)));
  for (const part of parts) {
    const weight = weigh(VECTOR, part);
    for (const [place, value] of part.vector.entries()) vector[place] = (vector[place] as number) + weight * value;
  }
  return {
    evidence: total((part) => part.evidence),
    reputation: total((part) => weigh(REPUTATION, part) * part.reputation),
    information,
    // Parts count their own runs.
    lastRun: parts.length * Math.max(...parts.map((part) => part.lastRun)),
    at: Math.max(...parts.map((part) => part.at)),
    vector,
  };
}

function mergedShared({ parts }: Shared, merge: Merge): OarShared {
  const total = (of: (part: OarShared) => number): number => parts.reduce((sum, part) => sum + of(part), 0);
  const steps = total((part) => part.steps);
  const first = base.shared.empty() as OarShared;
  const share = merge === "sum" ? 1 : 1 / parts.length;
  const summed = (of: "mean" | "baseline", weight: (part: OarShared) => number): Float32Array => {
    const vector = new Float32Array(Math.max(...parts.map((part) => part[of].length)));
    for (const part of parts) {
      for (const [place, value] of part[of].entries()) vector[place] = (vector[place] as number) + weight(part) * value;
    }
    return vector;
  };
  const counted = total((part) => part.spreadCount);
  const names = [
    ...(["lessons", "votedRuns", "predicted", "reputations", "both", "reputationSurprise"] as const),
    ...(["outcomes", "rewards", "between"] as const),
    ...(["heldSquares", "heldProducts", "squares", "products"] as const),
  ] as const;
  return {
    ...(Object.fromEntries(names.map((name) => [name, total((part) => part[name])])) as Pick<
      OarShared,
      (typeof names)[number]
    >),
    gateNumerator: total((part) => part.gateNumerator),
    gateDenominator: total((part) => part.gateDenominator),
    steps,
    mean: summed("mean", (part) => part.steps / Math.max(1, steps)),
    baseline: summed("baseline", () => share),
    bias: first.bias + share * total((part) => part.bias - first.bias),
    spread: total((part) => part.spread * part.spreadCount) / Math.max(1, counted),
    spreadCount: counted,
  };
}

/** Tables of the views of a ranking. */
class SubLedgerTable implements MemoryTable {
  readonly #views: (memory: Memory) => readonly OarMemory[];
  readonly #tables: readonly MemoryTable[];
  /** Row of each memory in each table, −1 where it has none. */
  readonly #rows: readonly number[][];
  #count = 0;

  constructor(count: number, views: (memory: Memory) => readonly OarMemory[]) {
    this.#views = views;
    this.#tables = Array.from({ length: count }, () => base.createTable());
    this.#rows = Array.from({ length: count }, () => []);
  }

  get size(): number {
    return this.#tables.reduce((sum, { size }) => sum + size, 0);
  }

  put(bytes: Uint8Array, row: number = this.#count): number {
    if (row === this.#count) this.#count += 1;
    const memory = decodeParts(base.memory as StateCodec<OarMemory>, bytes);
    for (const [place, view] of this.#views(memory).entries()) {
      const [table, rows] = [this.#tables[place] as MemoryTable, this.#rows[place] as number[]];
      const encoded = base.memory.encode(view, 0);
      const known = rows[row] ?? -1;
      rows[row] = encoded.length === 0 ? -1 : table.put(encoded, ...(known < 0 ? [] : [known]));
    }
    return row;
  }

  /** A table and rows for the default learner. */
  view(place: number, rows: Int32Array): { readonly table: MemoryTable; readonly rows: Int32Array } {
    const own = this.#rows[place] as number[];
    return {
      table: this.#tables[place] as MemoryTable,
      rows: rows.map((row) => (row < 0 ? -1 : (own[row] as number))),
    };
  }
}

const HEAD = 8;

/** The number of runs, the length of each part, and the parts. */
function partsCodec<State>(codec: StateCodec<State>, count: number): StateCodec<Parts<State>> {
  return {
    empty: () => ({ runs: 0, parts: Array.from({ length: count }, codec.empty) }),
    decode: (bytes) => decodeParts(codec, bytes),
    encode({ runs, parts }, room) {
      const encoded = parts.map((part) => codec.encode(part, 0));
      const length = encoded.reduce((sum, one) => sum + one.length, 0);
      if (length === 0) return new Uint8Array(room);
      const head = Float64Array.of(runs, count, ...encoded.map((one) => one.length));
      const bytes = new Uint8Array(room + head.byteLength + length);
      bytes.set(new Uint8Array(head.buffer), room);
      let place = room + head.byteLength;
      for (const one of encoded) {
        bytes.set(one, place);
        place += one.length;
      }
      return bytes;
    },
    problem: () => undefined,
  };
}

function decodeParts<State>(codec: StateCodec<State>, bytes: Uint8Array): Parts<State> {
  const [runs = 0, count = 0] = new Float64Array(bytes.buffer, bytes.byteOffset, 2);
  const lengths = new Float64Array(bytes.buffer, bytes.byteOffset + 2 * HEAD, count);
  let place = (2 + count) * HEAD;
  const parts = Array.from(lengths, (length) => {
    // A copy of its own, since a part may be changed.
    const own = bytes.slice(place, place + length);
    place += length;
    return length === 0 ? codec.empty() : codec.decode(own);
  });
  return { runs, parts };
}
