import {
  addScaled,
  type Contribution,
  contribute,
  DecodedTable,
  type Defined,
  dot,
  type FieldRule,
  type Learner,
  type Lesson,
  NOT_NEGATIVE,
  observeSpread,
  RATE,
  resolveOptions,
  scoreOneByOne,
  sigmoid,
  spreadScale,
  toUnit,
  UNIT,
  whole,
  withdraw,
} from "@qavr/core/learner";
import {
  type ContextsMemory,
  type ContextsShared,
  type Effect,
  memoryCodec,
  type RequestContext,
  sharedCodec,
} from "./contexts-state.js";
import { countable } from "./weighted-sum.js";

/** Settings of the `contexts` learner. */
export interface ContextsOptions {
  /** Most contexts of a collection. Whole number in [1, 250]. Each takes 1 KiB at 256 dims, written with every outcome. @default 192 */
  readonly contexts?: number | undefined;
  /** Cosine to the nearest context below which a request founds a new one, in [0, 1]. @default 0.5 */
  readonly joinFrom?: number | undefined;
  /** Weight of a memory's log-odds against similarity, at a spread of 0.1. At least 0. @default 1 */
  readonly weight?: number | undefined;
  /** Step of all log-odds, in (0, 1]. @default 0.5 */
  readonly rate?: number | undefined;
}

const CONTEXTS_DEFAULTS: Defined<ContextsOptions> = { contexts: 192, joinFrom: 0.5, weight: 1, rate: 0.5 };

/** Contexts that a request belongs to at most. Range 1..8. */
const MEMBERSHIPS = 3;
/** Exponent of a membership, which falls with the angle. Range 1..8. */
const MEMBERSHIP_POWER = 4;
/** A context's centre is averaged over at most so many requests. Range 50..1000. */
const CENTRE_WINDOW = 200;
/** Weight of a memory's log-odds for all contexts, in the score and in a step. Range 0..1. */
const GLOBAL_SHARE = 0.3;
/** Step of the bias, as a share of the others'. Range 0.01..1. */
const BIAS_SHARE = 0.1;
/** Strength of the prior 0 on a memory's log-odds, in outcomes. Range 0..2. */
const MEMORY_PRIOR = 0.3;
/** The same for a context's own log-odds. Range 0..1. */
const CONTEXT_PRIOR = 0.02;

/** More would not fit into one state of a store. */
const MOST_CONTEXTS = 250;

const CONTEXTS_RULES: Readonly<Record<keyof ContextsOptions, FieldRule>> = {
  contexts: whole(1, MOST_CONTEXTS),
  joinFrom: UNIT,
  weight: NOT_NEGATIVE,
  rate: RATE,
};

/**
 * **Contexts**, `contexts@1`: requests are clustered online into kinds, and each memory has a number for each kind.
 *
 *     φ_c   = cos(q, centre_c)⁴ over its sum         for the three nearest contexts
 *     u     = 0.3 m + Σ φ_c m_c                      effect of showing the memory on the log-odds of success
 *     score = similarity + σ' · u                    σ': running spread of the collection's similarities over 0.1
 *
 * A request founds a context when none has a cosine of at least 0.5 and fewer than 192 exist; otherwise it moves the nearest one.
 * The log-odds are those of one logistic model of all runs, fitted by one gradient step per run ({@link learn}).
 *
 * - **State**: two numbers and three per context it was shown in, per memory; up to 195 KiB per collection at 256 dims, read and
 *   written with every outcome.
 * - **Not order-independent**: contexts depend on the first requests. A correction takes the steps of the last outcome back to the bit;
 *   for older ones later fading is not undone.
 * - **Wrong choice** for new kinds of request (they count as the nearest context), when commits must be small, and when the kinds are
 *   known: use a collection for each instead.
 * - Without a request vector only `0.3 m` is left. `context` labels, votes, relevance and use are ignored.
 * - **Source**: leader clustering (Hartigan 1975) and logistic regression on memberships. Repeated passes over
 *   old runs would make it stronger; it sees each run once.
 *
 * @throws INVALID_ARGUMENT
 */
export function contexts(
  options: ContextsOptions = {},
): Learner<ContextsShared, ContextsMemory, DecodedTable<ContextsMemory>> {
  const settings = resolveOptions("contexts", options, CONTEXTS_DEFAULTS, CONTEXTS_RULES);

  return {
    id: "contexts@1",
    shared: sharedCodec,
    memory: memoryCodec,
    createTable: () => new DecodedTable(memoryCodec),

    score(request) {
      const { shared, similarities, vector } = request;
      const memberships = membershipsOf(shared, vector);
      const scale = settings.weight * spreadScale(shared, similarities);
      return scoreOneByOne(request, {
        utility: (memory) => (memory ? memoryLogit(memory, memberships) : 0),
        evidence: ({ evidence }) => evidence,
        score: (similarity, logit) => similarity + scale * logit,
      });
    },

    observe: observeSpread,
    learn: (lesson) => learn(lesson, settings),
    unlearn,

    discount(memory, keep) {
      for (const effect of [memory, ...memory.effects.values()]) {
        effect.evidence = countable(effect.evidence * keep);
        effect.logit = effect.evidence === 0 ? 0 : countable(effect.logit * keep);
      }
    },

    describe: ({ logit, evidence }) => ({ utility: GLOBAL_SHARE * logit, evidence }),
    summarize: ({ contexts: known, spread }) => ({
      contexts: known.length,
      spread,
      dims: known[0]?.centre.length ?? 0,
    }),
  };
}

/** Membership of a request in a context. */
interface Membership {
  /** The context's number. */
  readonly context: number;
  /** In (0, 1]; those of a request sum to 1. */
  readonly share: number;
}

/** The context nearest to a request, with its number and cosine; the first of equals. */
function nearest(contexts: readonly RequestContext[], q: Float32Array): { context: number; cosine: number } {
  let best = { context: -1, cosine: Number.NEGATIVE_INFINITY };
  contexts.forEach(({ centre }, context) => {
    const cosine = centre.length === q.length ? dot(centre, q) : Number.NEGATIVE_INFINITY;
    if (cosine > best.cosine) best = { context, cosine };
  });
  return best;
}

/**
 * Moves the context nearest to a request, or founds one when none is near and there is room:
 *
 *     centre ← unit(centre + (q − centre) / min(requests, 200))
 */
function placeRequest(shared: ContextsShared, q: Float32Array, most: number, joinFrom: number): void {
  const { contexts } = shared;
  const { context, cosine } = nearest(contexts, q);
  const dims = contexts[0]?.centre.length ?? q.length;
  if (cosine < joinFrom && contexts.length < most && dims === q.length) {
    contexts.push({ centre: q.slice(), requests: 1, logit: 0 });
    return;
  }
  const joined = contexts[context];
  if (!joined) return;
  joined.requests += 1;
  const rate = 1 / Math.min(joined.requests, CENTRE_WINDOW);
  addScaled(joined.centre, -rate, joined.centre);
  addScaled(joined.centre, rate, q);
  toUnit(joined.centre);
}

/** The contexts that a request belongs to: the three nearest with a positive cosine, by its fourth power. None without a vector. */
function membershipsOf(shared: ContextsShared | undefined, q: Float32Array | undefined): Membership[] {
  if (!shared || !q) return [];
  const near = shared.contexts
    .map(({ centre }, context) => ({ context, cosine: centre.length === q.length ? dot(centre, q) : 0 }))
    .filter(({ cosine }) => cosine > 0)
    .sort((a, b) => b.cosine - a.cosine || a.context - b.context)
    .slice(0, MEMBERSHIPS)
    .map(({ context, cosine }) => ({ context, share: cosine ** MEMBERSHIP_POWER }));
  const total = near.reduce((sum, { share }) => sum + share, 0);
  return total > 0 ? near.map(({ context, share }) => ({ context, share: share / total })) : [];
}

type ContextsLesson = Lesson<ContextsShared, ContextsMemory>;

/** `0.3 m + Σ φ_c m_c`: effect of showing the memory to such a request on the log-odds of success. */
function memoryLogit(memory: ContextsMemory, memberships: readonly Membership[]): number {
  let logit = GLOBAL_SHARE * memory.logit;
  for (const { context, share } of memberships) logit += share * (memory.effects.get(context)?.logit ?? 0);
  return logit;
}

/** `bias + Σ φ_c b_c`: log-odds of success of such a request, whatever is shown. */
function requestLogit({ bias, contexts }: ContextsShared, memberships: readonly Membership[]): number {
  return memberships.reduce((sum, { context, share }) => sum + share * (contexts[context]?.logit ?? 0), bias);
}

/**
 * One step of gradient ascent on the run's log-likelihood. Each log-odds value is first drawn to 0 by its prior.
 *
 *     g     = r − sigmoid(bias + Σ φ_c b_c + Σ (0.3 m + Σ φ_c m_c))     over the memories shown
 *     bias += 0.05 g,  b_c += 0.5 φ_c g,  m += 0.15 g,  m_c += 0.5 φ_c g
 *
 * A run moves contexts and fades log-odds once, at its first lesson, so a corrected run ends in the state of the better verdict alone.
 */
function learn(lesson: ContextsLesson, { contexts, joinFrom, rate }: Defined<ContextsOptions>): Contribution {
  const { exposures, reward, weight, first } = lesson;
  if (first) {
    for (const { shared, vector } of exposures) if (vector) placeRequest(shared, vector, contexts, joinFrom);
  }
  const memberships = exposures.map(({ shared, vector }) => membershipsOf(shared, vector));
  if (first) fade(lesson, memberships, rate);
  if (reward === null) return contribute(lesson, {});
  const logit = exposures.reduce((sum, { shared, share, shown }, i) => {
    const belongs = memberships[i] as readonly Membership[];
    const shownLogit = shown.reduce(
      (part, { memory, weight: credit }) => (credit > 0 ? part + memoryLogit(memory, belongs) : part),
      0,
    );
    return sum + share * (requestLogit(shared, belongs) + shownLogit);
  }, 0);
  const step = rate * weight * (reward - sigmoid(logit));

  return contribute(lesson, {
    /** The bias's step, then each context's number and step. */
    collection({ shared, share }, place) {
      const bias = countable(BIAS_SHARE * step * share);
      shared.bias += bias;
      const added = [bias];
      for (const { context, share: belongs } of memberships[place] as readonly Membership[]) {
        const moved = countable(belongs * step * share);
        (shared.contexts[context] as { logit: number }).logit += moved;
        added.push(context, moved);
      }
      return added;
    },
    /** Evidence and step for all contexts, then each context's number, evidence and step. */
    memory({ memory }, _, place) {
      const added = [countable(weight), countable(GLOBAL_SHARE * step)];
      addTo(memory, added[0] as number, added[1] as number);
      for (const { context, share: belongs } of memberships[place] as readonly Membership[]) {
        const effect = memory.effects.get(context) ?? { logit: 0, evidence: 0 };
        memory.effects.set(context, effect);
        const evidence = countable(belongs * weight);
        const moved = countable(belongs * step);
        addTo(effect, evidence, moved);
        added.push(context, evidence, moved);
      }
      return added;
    },
  });
}

/** Takes the recorded steps back. */
function unlearn(lesson: ContextsLesson, contribution: Contribution): void {
  withdraw(lesson, contribution, {
    collection({ shared }, [bias = 0, ...moved]) {
      shared.bias -= bias;
      for (let i = 0; i < moved.length; i += 2) {
        const context = shared.contexts[moved[i] as number];
        if (context) context.logit -= moved[i + 1] as number;
      }
    },
    memory({ memory }, [evidence = 0, step = 0, ...effects]) {
      addTo(memory, -evidence, -step);
      for (let i = 0; i < effects.length; i += 3) {
        const [context, weight, moved] = effects.slice(i, i + 3) as [number, number, number];
        const effect = memory.effects.get(context);
        if (!effect) continue;
        addTo(effect, -weight, -moved);
        if (effect.evidence === 0) memory.effects.delete(context);
      }
      if (memory.evidence === 0) memory.effects.clear();
    },
  });
}

/** Adds evidence and a step, or takes them back. Without evidence the log-odds are exactly 0. */
function addTo(effect: Effect, evidence: number, step: number): void {
  effect.evidence = Math.max(0, effect.evidence + evidence);
  effect.logit = effect.evidence === 0 ? 0 : effect.logit + step;
}

/** Draws the log-odds of the run's contexts and memories to 0, by `rate · prior / evidence`: more while evidence is little. */
function fade({ exposures }: ContextsLesson, memberships: readonly (readonly Membership[])[], rate: number): void {
  const drawn = (logit: number, prior: number, share: number, evidence: number): number =>
    countable(logit * Math.max(0, 1 - (rate * prior * share) / Math.max(1, evidence)));
  exposures.forEach(({ shared, share, shown }, i) => {
    const belongs = memberships[i] as readonly Membership[];
    for (const { context, share: part } of belongs) {
      const known = shared.contexts[context] as { logit: number; requests: number };
      known.logit = drawn(known.logit, CONTEXT_PRIOR, part * share, known.requests);
    }
    for (const { memory, weight } of shown) {
      if (weight === 0) continue;
      memory.logit = drawn(memory.logit, MEMORY_PRIOR, 1, memory.evidence);
      for (const { context, share: part } of belongs) {
        const effect = memory.effects.get(context);
        if (effect) effect.logit = drawn(effect.logit, MEMORY_PRIOR, part, effect.evidence);
      }
    }
  });
}
