import {
  contribute,
  DecodedTable,
  type Learner,
  NOT_NEGATIVE,
  noState,
  problemOf,
  type StateCodec,
  scoreOneByOne,
  withdraw,
} from "@qavr/core/learner";

interface Wins {
  reward: number;
  weight: number;
}

const codec: StateCodec<Wins> = {
  empty: () => ({ reward: 0, weight: 0 }),
  decode: (bytes) => {
    const [reward = 0, weight = 0] = new Float64Array(bytes.buffer, bytes.byteOffset, 2);
    return { reward, weight };
  },
  encode({ reward, weight }, room) {
    if (weight === 0) return new Uint8Array(room);
    const bytes = new Uint8Array(room + 16);
    new Float64Array(bytes.buffer, room).set([reward, weight]);
    return bytes;
  },
  problem: (state) => problemOf(state, { reward: NOT_NEGATIVE, weight: NOT_NEGATIVE }),
};

const rate = (wins: Wins | undefined): number => (wins ? (wins.reward + 0.5) / (wins.weight + 1) : 0.5);

/**
 * **Win rate**, `win-rate@1`: `score = similarity + rate`, `rate = (Σ w·r + ½) / (Σ w + 1)`.
 *
 * The wrong choice when a memory helps one kind of request and misleads another.
 */
export function winRate(): Learner<null, Wins, DecodedTable<Wins>> {
  return {
    id: "win-rate@1",
    shared: noState,
    memory: codec,
    createTable: () => new DecodedTable(codec),
    score: (request) =>
      scoreOneByOne(request, {
        utility: rate,
        evidence: ({ weight }) => weight,
        score: (similarity, utility) => similarity + utility,
      }),
    observe() {},
    learn(lesson) {
      const { reward, weight } = lesson;
      if (reward === null) return contribute(lesson, {});
      return contribute(lesson, {
        memory: ({ memory }) => {
          memory.reward += weight * reward;
          memory.weight += weight;
          return [weight * reward, weight];
        },
      });
    },
    unlearn: (lesson, contribution) =>
      withdraw(lesson, contribution, {
        memory: ({ memory }, [reward = 0, weight = 0]) => {
          memory.reward = Math.max(0, memory.reward - reward);
          memory.weight = Math.max(0, memory.weight - weight);
        },
      }),
    discount(memory, keep) {
      memory.reward *= keep;
      memory.weight *= keep;
    },
    describe: (memory) => ({ utility: rate(memory), evidence: memory.weight }),
    summarize: () => ({}),
  };
}
