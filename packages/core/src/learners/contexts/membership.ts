import { addScaled, dot, toUnit } from "../../scoring/vectors.js";
import { CENTRE_WINDOW, MEMBERSHIP_POWER, MEMBERSHIPS } from "./parameters.js";
import type { ContextsShared, RequestContext } from "./state.js";

/** How far a request belongs to a context. */
export interface Membership {
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
 * Lets a request move its nearest context, or found one where none is near and there is room:
 *
 *     centre ← unit(centre + (q − centre) / min(requests, 200))
 */
export function placeRequest(shared: ContextsShared, q: Float32Array, most: number, joinFrom: number): void {
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
export function membershipsOf(shared: ContextsShared | undefined, q: Float32Array | undefined): Membership[] {
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
