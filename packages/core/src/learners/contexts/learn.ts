import { sigmoid } from "../../scoring/bounds.js";
import { countable } from "../../scoring/countable.js";
import { contribute, withdraw } from "../contribution.js";
import type { Contribution, Lesson } from "../learner.js";
import { type Membership, membershipsOf, placeRequest } from "./membership.js";
import { BIAS_SHARE, CONTEXT_PRIOR, type ContextsOptions, GLOBAL_SHARE, MEMORY_PRIOR } from "./parameters.js";
import type { ContextsMemory, ContextsShared, Effect } from "./state.js";

type ContextsLesson = Lesson<ContextsShared, ContextsMemory>;

/** `0.3 m + Σ φ_c m_c`: what showing the memory to such a request adds to the log-odds of success. */
export function memoryLogit(memory: ContextsMemory, memberships: readonly Membership[]): number {
  let logit = GLOBAL_SHARE * memory.logit;
  for (const { context, share } of memberships) logit += share * (memory.effects.get(context)?.logit ?? 0);
  return logit;
}

/** `bias + Σ φ_c b_c`: log-odds of success of such a request, whatever is shown. */
function requestLogit({ bias, contexts }: ContextsShared, memberships: readonly Membership[]): number {
  return memberships.reduce((sum, { context, share }) => sum + share * (contexts[context]?.logit ?? 0), bias);
}

/**
 * One step of gradient ascent on the run's log-likelihood. Each log-odd is first drawn to 0 as its prior asks.
 *
 *     g     = r − sigmoid(bias + Σ φ_c b_c + Σ (0.3 m + Σ φ_c m_c))     over the memories shown
 *     bias += 0.05 g,  b_c += 0.5 φ_c g,  m += 0.15 g,  m_c += 0.5 φ_c g
 *
 * A run moves contexts and fades log-odds once, at its first lesson: a corrected run ends where the better verdict alone had ended.
 */
export function learn(lesson: ContextsLesson, { contexts, joinFrom, rate }: Required<ContextsOptions>): Contribution {
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
    /** Evidence and step whatever the context, then each context's number, evidence and step. */
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
export function unlearn(lesson: ContextsLesson, contribution: Contribution): void {
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

/** Adds evidence and a step, or takes them back. Without evidence there is exactly nothing, whatever fading left. */
function addTo(effect: Effect, evidence: number, step: number): void {
  effect.evidence = Math.max(0, effect.evidence + evidence);
  effect.logit = effect.evidence === 0 ? 0 : effect.logit + step;
}

/** Draws the log-odds of everything the run touches to 0: by `rate · prior / evidence` of it, more while little is known. */
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
