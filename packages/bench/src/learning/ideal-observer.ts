import { type Candidate, oar } from "@qavr/core";
import { DIFFICULTIES, MISLEADING, type Quality, type Request, reports, type World } from "@qavr/lab";
import type { Arm } from "./arm.js";
import { engineArm } from "./engine-arm.js";

/** One possible truth about a need: how hard it is and which of its memories help or mislead. */
interface Hypothesis {
  /** Of the need's memories, in their order. */
  readonly qualities: readonly Quality[];
  /** Probability of success by the memories of the need that are shown, one bit each. */
  readonly success: Float64Array;
  /** Logarithm of its weight. */
  weight: number;
}

/** Present knowledge about a need. */
interface Belief {
  /** Expected probability of success by the memories shown. */
  readonly success: Float64Array;
  /** Probability of each memory that it helps, and that it misleads. */
  readonly helps: Float64Array;
  readonly misleads: Float64Array;
}

interface Need {
  readonly lessons: readonly string[];
  readonly hypotheses: readonly Hypothesis[];
  /** Undefined after a run, until it is asked for. */
  belief: Belief | undefined;
}

/** Decides between lists of equal expected success: a memory that helps first, then the host's order. */
const HELPS_FIRST = 1e-4;
const HOST_FIRST = 1e-6;
/** Probabilities are kept this far from 0 and 1. */
const MARGIN = 1e-3;

/**
 * The best that can be learned from the default learner's own log. The default learner ranks the stream's runs and learns from them. The
 * observer sees the same runs, and knows everything about the world except how hard each need is and which memories help: it keeps the exact
 * posterior of both for each need, and shows held-out requests the list of greatest expected success, place by place.
 *
 * It ignores one thing: that misleading memories of other needs cost a little says little about them. A run with several needs teaches it
 * nothing.
 */
export function idealObserverArm(world: World): Arm {
  const learner = engineArm(world, { learner: oar });
  const observer = idealObserver(world);
  return {
    show: learner.show,
    async learn(asked, shown) {
      const [report] = reports(world, asked.request, shown);
      if (report) observer.learn(asked.request, shown, report.success);
      await learner.learn(asked, shown);
    },
    preview: async ({ request, candidates }) => observer.choose(request, candidates),
    close: learner.close,
  };
}

interface Observer {
  learn(request: Request, shown: readonly string[], success: boolean): void;
  /** Ids, best first. */
  choose(request: Request, candidates: readonly Candidate[]): readonly string[];
}

/** @param world of which only the need of each memory is looked at, and the shares of qualities */
export function idealObserver(world: Pick<World, "k" | "lessons" | "needOf" | "scenario">): Observer {
  const lessonsOf = Map.groupBy(world.lessons, ({ need }) => need);
  const needs = new Map<number, Need>();
  for (const [need, lessons] of lessonsOf) {
    const ids = lessons.map(({ id }) => id);
    needs.set(need, { lessons: ids, hypotheses: hypothesesOf(ids.length, world.scenario), belief: undefined });
  }

  /** The bit of a lesson among those of its need. */
  function bitOf(lesson: string): number {
    const { lessons } = needs.get(world.needOf(lesson)) as Need;
    return 1 << lessons.indexOf(lesson);
  }

  function beliefIn(need: Need): Belief {
    need.belief ??= believe(need);
    return need.belief;
  }

  /** Expected factor of a memory of another need. */
  function foreignFactor(lesson: string): number {
    const need = needs.get(world.needOf(lesson)) as Need;
    const misleads = beliefIn(need).misleads[need.lessons.indexOf(lesson)] as number;
    return 1 - (1 - MISLEADING.foreign) * misleads;
  }

  return {
    learn({ needs: asked }, shown, success) {
      const [own] = asked;
      const need = own === undefined || asked.length > 1 ? undefined : needs.get(own);
      if (!need) return;
      let mask = 0;
      let factor = 1;
      for (const lesson of shown) {
        if (world.needOf(lesson) === own) mask |= bitOf(lesson);
        else factor *= foreignFactor(lesson);
      }
      for (const hypothesis of need.hypotheses) {
        const chance = Math.min(1 - MARGIN, Math.max(MARGIN, factor * (hypothesis.success[mask] as number)));
        hypothesis.weight += Math.log(success ? chance : 1 - chance);
      }
      need.belief = undefined;
    },

    choose({ needs: asked }, candidates) {
      const masks = new Map(asked.map((need) => [need, 0]));
      let factor = 1;
      /** Expected success of the list with these masks: the mean over the needs. */
      const expected = (own: number | undefined, bit: number): number => {
        let sum = 0;
        for (const [need, mask] of masks) {
          const { success } = beliefIn(needs.get(need) as Need);
          sum += success[need === own ? mask | bit : mask] as number;
        }
        return sum / masks.size;
      };
      const chosen: string[] = [];
      const left = new Map(candidates.map(({ id, similarity }) => [id, similarity]));
      while (chosen.length < world.k && left.size > 0) {
        let best = "";
        let most = Number.NEGATIVE_INFINITY;
        for (const [id, similarity] of left) {
          const own = world.needOf(id);
          const need = needs.get(own) as Need;
          const value = masks.has(own)
            ? factor * expected(own, bitOf(id)) +
              HELPS_FIRST * (beliefIn(need).helps[need.lessons.indexOf(id)] as number)
            : factor * foreignFactor(id) * expected(undefined, 0);
          if (value + HOST_FIRST * similarity <= most) continue;
          most = value + HOST_FIRST * similarity;
          best = id;
        }
        const own = world.needOf(best);
        if (masks.has(own)) masks.set(own, (masks.get(own) as number) | bitOf(best));
        else factor *= foreignFactor(best);
        chosen.push(best);
        left.delete(best);
      }
      return chosen;
    },
  };
}

const QUALITIES: readonly Quality[] = ["helpful", "neutral", "misleading"];

/** Every truth about a need with `count` memories, at its probability in the simulator. */
function hypothesesOf(count: number, { poison, neutral }: World["scenario"]): readonly Hypothesis[] {
  const shares = { helpful: 1 - poison - neutral, neutral, misleading: poison };
  return DIFFICULTIES.flatMap((difficulty) =>
    Array.from({ length: QUALITIES.length ** count }, (_, number): Hypothesis => {
      const qualities = Array.from(
        { length: count },
        (_, place) => QUALITIES[Math.floor(number / QUALITIES.length ** place) % QUALITIES.length] as Quality,
      );
      const success = Float64Array.from({ length: 1 << count }, (_, mask) => {
        const shown = qualities.filter((_, place) => mask & (1 << place));
        const misleading = shown.filter((quality) => quality === "misleading").length;
        const chance = shown.includes("helpful") ? difficulty.aided : difficulty.unaided;
        return misleading > 0 ? chance * MISLEADING.first * MISLEADING.further ** (misleading - 1) : chance;
      });
      return { qualities, success, weight: Math.log(difficulty.share * priorOf(qualities, shares)) };
    }),
  ).filter(({ weight }) => weight > Number.NEGATIVE_INFINITY);
}

/** Probability of the qualities of a need's memories: drawn one by one, and where none helps, any one is made to. */
function priorOf(qualities: readonly Quality[], shares: Readonly<Record<Quality, number>>): number {
  const helpful = qualities.filter((quality) => quality === "helpful").length;
  if (qualities.length === 1) return helpful;
  if (helpful === 0) return 0;
  const others = qualities.reduce((product, quality) => product * (quality === "helpful" ? 1 : shares[quality]), 1);
  const drawn = others * shares.helpful ** helpful;
  return helpful === 1 ? drawn + (others * (1 - shares.helpful)) / qualities.length : drawn;
}

function believe({ lessons, hypotheses }: Need): Belief {
  const most = Math.max(...hypotheses.map(({ weight }) => weight));
  const success = new Float64Array(1 << lessons.length);
  const helps = new Float64Array(lessons.length);
  const misleads = new Float64Array(lessons.length);
  let total = 0;
  for (const hypothesis of hypotheses) {
    const share = Math.exp(hypothesis.weight - most);
    total += share;
    for (let mask = 0; mask < success.length; mask++) {
      success[mask] = (success[mask] as number) + share * (hypothesis.success[mask] as number);
    }
    hypothesis.qualities.forEach((quality, place) => {
      if (quality === "helpful") helps[place] = (helps[place] as number) + share;
      else if (quality === "misleading") misleads[place] = (misleads[place] as number) + share;
    });
  }
  const normal = (sums: Float64Array): Float64Array => sums.map((sum) => sum / total);
  return { success: normal(success), helps: normal(helps), misleads: normal(misleads) };
}
