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
  const best = new Map<string, { exposure: number; item: number; weight: number }>();
  exposures.forEach((exposure, e) => {
    if (!exposure.credited) return;
    exposure.items.forEach(({ id, weight }, i) => {
      const key = `${exposure.collection.length}:${exposure.collection}${id}`;
      const known = best.get(key);
      if (!known || weight > known.weight) best.set(key, { exposure: e, item: i, weight });
    });
  });
  const shares = exposures.map((exposure): { share: number; weights: number[] } => ({
    share: carriesCredit(exposure) ? 1 / credited : 0,
    weights: exposure.items.map(() => 0),
  }));
  for (const { exposure, item, weight } of best.values()) {
    (shares[exposure] as { weights: number[] }).weights[item] = weight;
  }
  return shares;
}
