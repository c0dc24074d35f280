/**
 * Share of evidence that is left after some time: `2^(−elapsed / halfLife)`, in (0, 1]. It is computed at each read and never
 * stored, so the number of reads does not matter: `kept(a + b) = kept(a) · kept(b)`. Negative times take nothing.
 *
 * @param elapsed ms
 * @param halfLife ms, above 0; infinite: nothing fades
 */
export function kept(elapsed: number, halfLife: number): number {
  // The power is the dearest operation per candidate; it is left out when nothing fades.
  return elapsed > 0 && halfLife < Number.POSITIVE_INFINITY ? 2 ** (-elapsed / halfLife) : 1;
}
