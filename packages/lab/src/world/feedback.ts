import { uniformAt } from "../random/seeded-random.js";
import { DRAW, type Request, type World } from "./world.js";

/** A report about how a run ended. */
export interface Report {
  readonly success: boolean;
  readonly tier: "verified" | "user";
  /** A name. */
  readonly source: string;
}

/** The agent's votes on the memories shown, as their ids. */
export interface Votes {
  readonly helpful: readonly string[];
  readonly harmful: readonly string[];
}

/**
 * Probabilities of a vote, by what the memory does to the run: an agent notices more often what helped than what misled it, errs
 * now and then, and sometimes praises or blames what had no part.
 */
export const VOTE_RATES = {
  helpful: { helpful: 0.6, harmful: 0.05 },
  misleading: { helpful: 0.1, harmful: 0.4 },
  other: { helpful: 0.05, harmful: 0.05 },
} as const;

/** Probabilities that a run is seen to use a memory: one of its needs, or any other. */
export interface UsedRates {
  readonly own: number;
  readonly other: number;
}

/** Uses as a finder in texts sees them, as they are, and with three flags in ten wrong. */
export const USED_RATES: Readonly<Record<"seen" | "true" | "wrong", UsedRates>> = {
  seen: { own: 0.8, other: 0.1 },
  true: { own: 1, other: 0 },
  wrong: { own: 0.7, other: 0.3 },
};

/** The reports about a run, in their order of arrival: one that is always there, or what the scenario's sources say. */
export function reports(world: World, request: Request, shown: readonly string[]): readonly Report[] {
  const success = world.reported(request, world.succeeds(request, shown));
  const { sources } = world.scenario;
  const verified: Report = { success, tier: "verified", source: "checker" };
  if (!sources) return [verified];
  const draw = (which: number): number => uniformAt(world.seed, which, request.number);
  const told: Report[] = [];
  if (draw(DRAW.claimed) < sources.claimed) {
    const source = Math.floor(draw(DRAW.source) * sources.count);
    const lies = source < sources.liars && request.number >= sources.lyingFrom;
    const errs = !lies && draw(DRAW.error) < sources.error;
    told.push({ success: lies || errs ? !success : success, tier: "user", source: `source-${source}` });
  }
  if (draw(DRAW.verified) < sources.verified) told.push(verified);
  return told;
}

/** The vote on each memory shown. The draw belongs to the request and the memory, not to its place. */
export function votes(world: World, request: Request, shown: readonly string[]): Votes {
  const helpful: string[] = [];
  const harmful: string[] = [];
  for (const lesson of shown) {
    const rates = VOTE_RATES[effectOf(world, request, lesson)];
    const drawn = drawFor(world, DRAW.vote, request, lesson);
    if (drawn < rates.helpful) helpful.push(lesson);
    else if (drawn < rates.helpful + rates.harmful) harmful.push(lesson);
  }
  return { helpful, harmful };
}

/** The memories that the run is seen to use. */
export function used(
  world: World,
  request: Request,
  shown: readonly string[],
  rates: UsedRates = USED_RATES.seen,
): readonly string[] {
  return shown.filter((lesson) => {
    const rate = request.needs.includes(world.needOf(lesson)) ? rates.own : rates.other;
    return drawFor(world, DRAW.used, request, lesson) < rate;
  });
}

function effectOf(world: World, request: Request, lesson: string): keyof typeof VOTE_RATES {
  const quality = world.truthAt(request.number).quality(lesson);
  return quality === "neutral" || !request.needs.includes(world.needOf(lesson)) ? "other" : quality;
}

function drawFor(world: World, which: number, request: Request, lesson: string): number {
  // Lessons are named m0, m1, …: the number is the coordinate.
  return uniformAt(world.seed, which, request.number, Number(lesson.slice(1)));
}
