import { dequantise } from "../../embedding/quantise.js";
import { sigmoid } from "../../scoring/bounds.js";
import { addScaled, dot } from "../../scoring/vectors.js";
import type { Contribution, Lesson, ShownMemory } from "../learner.js";
import { expectedLogit } from "../request-baseline.js";
import { meetRequest } from "../request-model.js";
import { folded } from "./footprint.js";
import { curvature, dualNumber, localEvidence } from "./formulas.js";
import type { OarNumbers } from "./parameters.js";
import type { OarMemory, OarShared } from "./state.js";

type OarLesson = Lesson<OarShared, OarMemory>;

/** Below this a memory's evidence is rounding left over from a correction. */
const NO_EVIDENCE = 1e-9;

/** Runs over which the share of voted runs is averaged. */
const VOTE_WINDOW = 200;

/** One memory of a run, with what its step needs. */
interface Part {
  readonly shown: ShownMemory<OarMemory>;
  readonly z: Float32Array | undefined;
  /** Relevance times the exposure's share: what it carries of the run. */
  readonly weight: number;
  /** What the model said of it: v · z. */
  readonly logit: number;
  /** Its prior variance, less what is known. */
  readonly variance: number;
}

export function learn(lesson: OarLesson, n: OarNumbers): Contribution {
  const { exposures, reward, weight: trust, first, voted } = lesson;
  const directions = exposures.map((exposure) => meetRequest(exposure, first));
  const parts = exposures.map(({ share, shown }, e) =>
    shown.map((memory): Part => partOf(memory, share, directions[e]?.z, n)),
  );
  const all = parts.flat().filter(({ weight }) => weight > 0);
  const collections = new Set(exposures.map(({ shared }) => shared));
  if (first) for (const shared of collections) countRun(shared, voted, n);

  const base = exposures.reduce(
    (sum, { shared, share }, e) => sum + share * expectedLogit(shared, directions[e]?.z),
    0,
  );
  const added = all.reduce((sum, { weight, logit }) => sum + weight * logit, 0);
  const gates = reward === null ? NO_GATES : judge(base, added, listLevel(all, n), reward, trust);
  for (const shared of collections) addGates(shared, gates, 1);

  const blamed = reward === null ? [] : attribute(all, reward - sigmoid(base + added), n);
  const shareOf = new Map(all.map((part, i) => [part, blamed[i] ?? 0]));
  let variance = n.biasVariance + (directions.some((direction) => direction) ? n.baselineVariance : 0);
  for (const part of all) if (part.z) variance += part.variance * (shareOf.get(part) as number) ** 2;
  const dual = reward === null ? 0 : dualNumber(base + added, reward, variance, trust, n);
  const information = 4 * trust * curvature(sigmoid(base + added), n);

  const told = new Set<OarShared>();
  return {
    exposures: exposures.map(({ shared, share }, e) => {
      const direction = directions[e];
      const own = told.has(shared) ? NO_GATES : gates;
      told.add(shared);
      moveBaseline(shared, direction?.z, share * dual, n);
      return {
        direction: direction?.bytes,
        scalars: [share * dual, ...own, shared.lessons],
        memories: (parts[e] as Part[]).map((part): readonly number[] => {
          const { memory, vote } = part.shown;
          if (part.weight === 0 || (reward === null && vote === 0)) return [];
          const blame = shareOf.get(part) ?? 0;
          const credit = blame * dual * (voted && vote === 0 ? n.unvotedShare : 1);
          const said = voted ? voteDual(part, vote, part.variance * credit, trust, n) : 0;
          const step: Step = [
            trust * part.weight,
            credit + said,
            reward === null ? 0 : information * blame * blame,
            vote === 0 ? 0 : 1,
            part.variance * (credit + said),
          ];
          move(memory, step, part.z, 1);
          if (first) memory.lastRun = shared.lessons;
          return step;
        }),
      };
    }),
  };
}

/** Takes a contribution back, up to float32 rounding. */
export function unlearn({ exposures }: OarLesson, contribution: Contribution, n: OarNumbers): void {
  exposures.forEach(({ shared, shown }, e) => {
    const given = contribution.exposures[e];
    if (!given) return;
    const [dual = 0, a = 0, b = 0, c = 0, d = 0, lessons = 0] = given.scalars;
    const z = given.direction && dequantise(given.direction);
    addGates(shared, [a, b, c, d], -(n.gateDecay ** (shared.lessons - lessons)));
    moveBaseline(shared, z, -dual, n);
    shown.forEach(({ memory }, place) => {
      const step = given.memories[place] ?? [];
      if (step.length > 0) move(memory, step as unknown as Step, z, -1);
    });
  });
}

/** Evidence, advantage, information, votes, and the coefficient along the direction. */
type Step = readonly [number, number, number, number, number];

/** Numerator and denominator of the gate, then of the contrast. */
type Gates = readonly [number, number, number, number];

const NO_GATES: Gates = [0, 0, 0, 0];

function partOf(shown: ShownMemory<OarMemory>, share: number, z: Float32Array | undefined, n: OarNumbers): Part {
  const { memory, weight } = shown;
  const logit = z && memory.vector.length === z.length ? dot(memory.vector, z) : 0;
  const variance = n.memoryVariance / (1 + n.settling * memory.information);
  return { shown, z, weight: share * weight, logit, variance };
}

function countRun(shared: OarShared, voted: boolean, n: OarNumbers): void {
  shared.lessons += 1;
  shared.gateNumerator *= n.gateDecay;
  shared.gateDenominator *= n.gateDecay;
  shared.contrastNumerator *= n.gateDecay;
  shared.contrastDenominator *= n.gateDecay;
  shared.voteRate += ((voted ? 1 : 0) - shared.voteRate) / Math.min(shared.lessons + 10, VOTE_WINDOW);
}

/** What the list as a whole says of such requests: the mean logit of its memories, by what is known near the request. */
function listLevel(parts: readonly Part[], n: OarNumbers): number {
  let sum = 0;
  let total = 1;
  for (const { shown, z, logit } of parts) {
    if (!z) continue;
    const { footprint } = shown.memory;
    const near = folded(z);
    if (footprint.length !== near.length) continue;
    const local = localEvidence(dot(footprint, near), Math.sqrt(dot(footprint, footprint)), n);
    const weight = shown.weight ** 3.5 * (local / (local + 1));
    sum += weight * logit;
    total += weight;
  }
  return sum / total;
}

/** How the run speaks for the two gates: residual times prediction, and prediction squared. */
function judge(base: number, added: number, level: number, reward: number, trust: number): Gates {
  const predicted = sigmoid(base + added);
  const whole = predicted - sigmoid(base);
  const part = predicted - sigmoid(base + level);
  return [
    trust * (reward - sigmoid(base)) * whole,
    trust * whole * whole,
    trust * (reward - sigmoid(base + level)) * part,
    trust * part * part,
  ];
}

function addGates(shared: OarShared, [a, b, c, d]: Gates, factor: number): void {
  shared.gateNumerator += factor * a;
  shared.gateDenominator += factor * b;
  shared.contrastNumerator += factor * c;
  shared.contrastDenominator += factor * d;
}

/** How the run's residual is shared: by relevance, and for a bad surprise half by suspicion. */
function attribute(parts: readonly Part[], surprise: number, n: OarNumbers): readonly number[] {
  if (surprise >= 0) return parts.map(({ weight }) => weight);
  const suspicion = parts.map(({ logit }) => Math.exp(Math.max(-20, Math.min(20, -logit / n.suspicionScale))));
  let suspected = 0;
  let total = 0;
  parts.forEach(({ weight }, i) => {
    suspected += weight * (suspicion[i] as number);
    total += weight;
  });
  return parts.map(
    ({ weight }, i) => weight * (1 - n.suspicion + (n.suspicion * (suspicion[i] as number) * total) / suspected),
  );
}

/** A vote as a run of its memory alone: reward 1 (helped), 0 (misled), or even odds for a memory that nobody spoke of. */
function voteDual({ logit, variance }: Part, vote: -1 | 0 | 1, moved: number, trust: number, n: OarNumbers): number {
  const weight = vote === 0 ? trust * n.silence : trust;
  const reward = vote > 0 ? 1 : vote < 0 ? 0 : 0.5;
  return weight === 0 ? 0 : dualNumber(logit + moved, reward, variance, weight, { ...n, newtonSteps: 3 });
}

function moveBaseline(shared: OarShared, z: Float32Array | undefined, dual: number, n: OarNumbers): void {
  shared.bias += n.biasVariance * dual;
  if (z && shared.baseline.length === z.length) addScaled(shared.baseline, n.baselineVariance * dual, z);
}

function move(memory: OarMemory, step: Step, z: Float32Array | undefined, factor: 1 | -1): void {
  const [evidence, advantage, information, votes, along] = step;
  memory.evidence += factor * evidence;
  memory.advantage += factor * advantage;
  memory.information = Math.max(0, memory.information + factor * information);
  memory.votes += factor * votes;
  if (memory.evidence < NO_EVIDENCE) {
    memory.evidence = 0;
    memory.advantage = 0;
    memory.information = 0;
    memory.votes = 0;
    memory.vector = new Float32Array(0);
    memory.footprint = new Float32Array(0);
    return;
  }
  if (!z) return;
  const near = folded(z);
  if (memory.vector.length === 0) {
    memory.vector = new Float32Array(z.length);
    memory.footprint = new Float32Array(near.length);
  }
  if (memory.vector.length !== z.length) return;
  addScaled(memory.vector, factor * along, z);
  addScaled(memory.footprint, factor * evidence, near);
}
