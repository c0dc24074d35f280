import { type Learner, oar } from "@qavr/core";
import {
  between,
  type Contribution,
  clamp,
  groupShares,
  type Lesson,
  type MemoryTable,
  NOT_NEGATIVE,
  type OarMemory,
  type OarShared,
  type Observation,
  problemOf,
  type ScoreRequest,
  type Scores,
  type ShownMemory,
  type StateCodec,
  sigmoid,
  withNumbers,
} from "@qavr/core/learner";
import {
  type Chances,
  chanceAt,
  chanceOf,
  chancesOf,
  GROUP,
  type GroupEvidence,
  HELPS,
  type Levels,
  levelsOf,
  MISLEADS,
  NEUTRAL,
  NOTHING,
  type Shown,
  spreadInGroups,
  withMemory,
} from "./group-model.js";

/** State of one memory: that of `oar`, and the evidence about it inside its group. */
export interface GroupedMemory extends OarMemory, GroupEvidence {}

/** State of a collection: that of `oar`, and how far similarities tell groups apart. */
export interface GroupedShared extends OarShared {
  /** Squared distances of similarities from their group's mean, over the variance of their list; sum of the last lists. */
  within: number;
  /** Degrees of freedom of that sum: candidates less groups. */
  freedom: number;
}

type GroupedLesson = Lesson<GroupedShared, GroupedMemory>;

/** Share of the sums that is left after a list: about the last 300 lists decide. */
const KEPT = 0.997;

const base: Learner<OarShared, OarMemory> = oar();

const EVIDENCE = ["helps", "misleads", "hard", "easy"] as const;
/** A correction may take evidence beyond the bound of a lesson; far beyond it, the odds of a group would be infinite. */
const LOG_ODDS = between(-4 * GROUP.mostEvidence, 4 * GROUP.mostEvidence);
const EVIDENCE_RULES = { helps: LOG_ODDS, misleads: LOG_ODDS, hard: LOG_ODDS, easy: LOG_ODDS };
const EVIDENCE_BYTES = 8 * EVIDENCE.length;

/** Four float64, then the state of `oar`; empty while nothing was learned. Little-endian. */
const memoryCodec: StateCodec<GroupedMemory> = {
  empty: () => ({ ...base.memory.empty(), helps: 0, misleads: 0, hard: 0, easy: 0 }),
  decode(bytes) {
    const [helps, misleads, hard, easy] = new Float64Array(
      bytes.buffer,
      bytes.byteOffset,
      EVIDENCE.length,
    ) as unknown as [number, number, number, number];
    return { ...base.memory.decode(bytes.subarray(EVIDENCE_BYTES)), helps, misleads, hard, easy };
  },
  encode(memory, room) {
    if (memory.evidence === 0) return new Uint8Array(room);
    const bytes = base.memory.encode(memory, room + EVIDENCE_BYTES);
    new Float64Array(bytes.buffer, room, EVIDENCE.length).set(EVIDENCE.map((field) => memory[field]));
    return bytes;
  },
  problem: (state) => base.memory.problem(state) ?? problemOf(state, EVIDENCE_RULES),
};

const sharedCodec: StateCodec<GroupedShared> = withNumbers(base.shared, {
  within: NOT_NEGATIVE,
  freedom: NOT_NEGATIVE,
});

/** Memory states of `grouped`: a table of `oar`, and beside it the evidence inside groups. */
export class GroupedTable implements MemoryTable {
  readonly oar: MemoryTable = base.createTable();
  readonly evidence: GroupEvidence[] = [];

  get size(): number {
    return this.oar.size + EVIDENCE_BYTES * this.evidence.length;
  }

  put(bytes: Uint8Array, row?: number): number {
    const place = this.oar.put(bytes.subarray(EVIDENCE_BYTES), row);
    const { helps, misleads, hard, easy } = memoryCodec.decode(bytes);
    this.evidence[place] = { helps, misleads, hard, easy };
    return place;
  }
}

/**
 * **Groups**, `grouped@1`: `oar`, and a model of groups where the host names them (`Candidate.group`: a tool, an intent, a file, a topic).
 *
 * A request is about one group. There a memory helps, does nothing or misleads, whatever the words of the request: one success or
 * failure speaks about all requests of the group, and about each memory shown of it as far as the others do not explain the run.
 *
 *     share_g    how likely the request is about a group, by similarity ({@link groupShares})
 *     P(run)     = Σ share_g P_g + the rest · P(usual run)          P_g: {@link chanceOf} over the group's memories that were shown
 *     evidence   += ln P(outcome | it helps) − ln P(outcome | it does nothing);  the same for misleading
 *     place      the candidate that adds most to Σ share_g P_g beside those chosen above it
 *
 * Groups count where similarities tell them apart: the variance inside groups is at most 0.9 of that of the list, over the last 300
 * lists. Elsewhere, and without groups, it ranks as `oar`.
 *
 * - **State**: 32 bytes per memory and 16 per collection beside those of `oar`.
 * - **Order**: not order-independent; equal ledgers give equal bytes.
 * - **Votes** count as four to one for or against their memory.
 * - **Wrong choice** when groups are wide, so that their memories are for different requests, or when a request is about several groups.
 */
export function grouped(): Learner<GroupedShared, GroupedMemory, GroupedTable> {
  return {
    id: "grouped@1",
    shared: sharedCodec,
    memory: memoryCodec,
    createTable: () => new GroupedTable(),
    score,
    observe,
    learn,
    unlearn,
    discount(memory, keep) {
      base.discount(memory, keep);
      for (const field of EVIDENCE) memory[field] *= keep;
    },
    describe: base.describe,
    summarize: (shared) => ({ ...base.summarize(shared), withinGroups: withinGroups(shared) }),
  };
}

function observe(observation: Observation<GroupedShared, GroupedMemory>): void {
  base.observe(observation);
  const { shared, similarities, groups } = observation;
  if (!groups) return;
  const { within, freedom } = spreadInGroups(similarities, groups);
  shared.within = KEPT * shared.within + within;
  shared.freedom = KEPT * shared.freedom + freedom;
}

/** Variance of similarities inside groups over that of their lists: 1 where similarities do not tell groups apart, and before any list. */
function withinGroups({ within, freedom }: GroupedShared): number {
  return freedom < GROUP.leastFreedom ? 1 : within / freedom;
}

function score(request: ScoreRequest<GroupedShared, GroupedTable>): Scores {
  const { shared, table, rows, similarities, groups, topK } = request;
  const scores = base.score({ ...request, table: table.oar });
  if (!groups || !shared || withinGroups(shared) > GROUP.mostWithin || rows.every((row) => row < 0)) return scores;

  const memories = Array.from(rows, (row) => table.evidence[row]);
  const members = new Map<number, (GroupEvidence | undefined)[]>();
  groups.forEach((group, i) => {
    members.set(group, [...(members.get(group) ?? []), memories[i]]);
  });
  const shares = groupShares(similarities, groups);
  const chances = memories.map(chancesOf);
  const levels = new Map<number, Levels>();
  const shown = new Map<number, Shown>();
  for (const [group, list] of members) {
    levels.set(group, levelsOf(list));
    shown.set(group, NOTHING);
  }
  /** Gain in the chance of success from showing a candidate beside those chosen. */
  const gainOf = (i: number): number => {
    const share = shares[i] as number;
    if (share < GROUP.leastShare) return 0;
    const group = groups[i] as number;
    const of = levels.get(group) as Levels;
    const now = shown.get(group) as Shown;
    return share * (chanceOf(of, withMemory(now, chances[i] as Chances)) - chanceOf(of, now));
  };
  const left = new Set(similarities.keys());
  const top = similarities.reduce((best, similarity) => Math.max(best, similarity), Number.NEGATIVE_INFINITY);
  const scale = scores.terms?.scale ?? 1;
  const score = Float64Array.from(similarities);
  const places = Math.min(topK, similarities.length);
  for (let place = 0; place < places; place++) {
    let best = -1;
    let gain = Number.NEGATIVE_INFINITY;
    for (const i of left) {
      const own = gainOf(i);
      if (own > gain) [best, gain] = [i, own];
    }
    left.delete(best);
    const group = groups[best] as number;
    shown.set(group, withMemory(shown.get(group) as Shown, chances[best] as Chances));
    // The chosen stand above the others in the order of their choice.
    score[best] = top + (scale * (places - place)) / places;
  }
  const learned = score.map((one, i) => one - (similarities[i] as number));
  const none = new Float64Array(score.length);
  return {
    ...scores,
    // The advantage that `oar` expects is that of its own list.
    hostShare: 0,
    score,
    utility: Float64Array.from(memories, (memory) => (memory ? memory.helps - memory.misleads : 0)),
    gate: 1,
    unchanged: false,
    terms: { learned, bonus: none, overlap: none, scale },
  };
}

/** The memories of one group that a run was shown. */
interface Part {
  /** Probability that the run was about this group, times the exposure's share. */
  readonly share: number;
  readonly members: readonly ShownMemory<GroupedMemory>[];
  readonly chances: readonly Chances[];
  readonly levels: Levels;
  readonly chance: number;
}

function partsOf({ exposures }: GroupedLesson): readonly Part[] {
  return exposures.flatMap(({ share, shown }) => {
    const groups = new Map<number, ShownMemory<GroupedMemory>[]>();
    for (const memory of shown) {
      const { group, weight } = memory;
      if (!group || weight === 0 || group.share < GROUP.leastShare) continue;
      groups.set(group.number, [...(groups.get(group.number) ?? []), memory]);
    }
    return [...groups.values()].map((members): Part => {
      const chances = members.map(({ memory }) => chancesOf(memory));
      const levels = levelsOf(members.map(({ memory }) => memory));
      const of = members[0]?.group?.share ?? 0;
      return {
        share: share * of,
        members,
        chances,
        levels,
        chance: chanceOf(levels, chances.reduce(withMemory, NOTHING)),
      };
    });
  });
}

function learn(lesson: GroupedLesson): Contribution {
  const { exposures, reward, weight: trust } = lesson;
  const steps = new Map<ShownMemory<GroupedMemory>, number[]>();
  const parts = partsOf(lesson);
  if (reward !== null && parts.length > 0) {
    const usual = sigmoid(exposures.reduce((sum, { shared, share }) => sum + share * shared.bias, 0));
    const covered = parts.reduce((sum, { share }) => sum + share, 0);
    const whole = parts.reduce((sum, { share, chance }) => sum + share * chance, (1 - covered) * usual);
    const likelihood = (chance: number): number => reward * chance + (1 - reward) * (1 - chance);
    for (const { share, members, chances, levels, chance } of parts) {
      const rest = whole - share * chance;
      const all = chances.reduce(withMemory, NOTHING);
      const [ofHard, ofUsual, ofEasy] = levels.map((_, level) => likelihood(rest + share * chanceAt(level, all))) as [
        number,
        number,
        number,
      ];
      members.forEach((shown, i) => {
        const others = chances.reduce((list, one, k) => (k === i ? list : withMemory(list, one)), NOTHING);
        const [helping, idle, misleading] = [HELPS, NEUTRAL, MISLEADS].map((quality) =>
          likelihood(rest + share * chanceOf(levels, withMemory(others, quality))),
        ) as [number, number, number];
        steps.set(shown, [
          trust * Math.log(helping / idle),
          trust * Math.log(misleading / idle),
          (trust * Math.log(ofHard / ofUsual)) / members.length,
          (trust * Math.log(ofEasy / ofUsual)) / members.length,
        ]);
      });
    }
  }
  const contribution = base.learn(lesson);
  return {
    exposures: contribution.exposures.map((given, e) => {
      const { shown } = exposures[e] as GroupedLesson["exposures"][number];
      return {
        ...given,
        memories: given.memories.map((own, i): readonly number[] => {
          if (own.length === 0) return own;
          const one = shown[i] as ShownMemory<GroupedMemory>;
          const [helps = 0, misleads = 0, hard = 0, easy = 0] = steps.get(one) ?? [];
          const voted = trust * Math.log(GROUP.vote);
          const wanted = [helps + (one.vote > 0 ? voted : 0), misleads + (one.vote < 0 ? voted : 0), hard, easy];
          const step = EVIDENCE.map(
            (field, k) => bounded(one.memory[field] + (wanted[k] as number)) - one.memory[field],
          );
          move(one.memory, step, 1);
          return [...step, ...own];
        }),
      };
    }),
  };
}

/** Evidence within its bounds: a memory that turned is learned anew after a few runs. */
function bounded(evidence: number): number {
  return clamp(evidence, -GROUP.mostEvidence, GROUP.mostEvidence);
}

function unlearn(lesson: GroupedLesson, contribution: Contribution): void {
  const own = contribution.exposures.map(({ memories, ...rest }) => ({
    ...rest,
    memories: memories.map((numbers) => numbers.slice(EVIDENCE.length)),
  }));
  base.unlearn(lesson, { exposures: own });
  lesson.exposures.forEach(({ shown }, e) => {
    const { memories = [] } = contribution.exposures[e] ?? {};
    shown.forEach(({ memory }, i) => {
      const step = memories[i] ?? [];
      if (step.length > 0) move(memory, step, -1);
    });
  });
}

function move(memory: GroupedMemory, step: readonly number[], factor: 1 | -1): void {
  EVIDENCE.forEach((field, i) => {
    memory[field] = memory.evidence === 0 ? 0 : memory[field] + factor * (step[i] as number);
  });
}
