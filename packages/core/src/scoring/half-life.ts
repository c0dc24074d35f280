/**
 * What time leaves of evidence: `2^(−elapsed / halfLife)`, in (0, 1]. Read whenever it is needed and never written on its own, so
 * that how often somebody looks changes nothing: `kept(a + b) = kept(a) · kept(b)`. Time that runs backwards takes nothing.
 *
 * @param elapsed ms
 * @param halfLife ms, above 0; infinite: nothing fades
 */
export function kept(elapsed: number, halfLife: number): number {
  // A power costs more than all else that is done for a candidate: none is taken where nothing fades.
  return elapsed > 0 && halfLife < Number.POSITIVE_INFINITY ? 2 ** (-elapsed / halfLife) : 1;
}
