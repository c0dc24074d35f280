/** One exposure, as far as credit needs it. */
export interface CreditExposure {
  readonly collection: string;
  readonly credited: boolean;
  readonly items: readonly { readonly id: string; readonly weight: number }[];
}

/** Share of the episode's outcome that an exposure carries, and the weights of its memories within it. */
export interface CreditShare {
  /** Sums to 1 over the credited exposures; 0 for the others. */
  readonly share: number;
  /** Parallel to the items; 0 for the weaker of two showings of one memory. */
  readonly weights: readonly number[];
}

/** True for an exposure that carries a share of its episode's outcome. */
export function carriesCredit({ credited, items }: CreditExposure): boolean {
  return credited && items.length > 0;
}

/**
 * Divides an episode's outcome: n credited exposures carry 1/n each. A memory shown by several of them counts once, where its
 * weight is largest (the earlier one of equals).
 */
export function creditShares(exposures: readonly CreditExposure[]): CreditShare[] {
  const credited = exposures.filter(carriesCredit).length;
  const shares = exposures.map((exposure) => ({
    share: carriesCredit(exposure) ? 1 / credited : 0,
    weights: exposure.items.map(() => 0),
  }));
  /** The largest weight of each memory so far and its place, by collection and id. */
  const best = new Map<string, Map<string, { readonly weights: number[]; readonly place: number }>>();
  exposures.forEach(({ credited, collection, items }, e) => {
    if (!credited) return;
    const inCollection = best.get(collection) ?? new Map();
    best.set(collection, inCollection);
    const { weights } = shares[e] as (typeof shares)[number];
    items.forEach(({ id, weight }, place) => {
      const known = inCollection.get(id);
      if (known && known.weights[known.place] >= weight) return;
      if (known) known.weights[known.place] = 0;
      weights[place] = weight;
      inCollection.set(id, { weights, place });
    });
  });
  return shares;
}
