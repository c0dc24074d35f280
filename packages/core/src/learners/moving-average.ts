/** `value + rate · (target − value)`: the average moves towards what came last. */
export function movedTowards(value: number, target: number, rate: number): number {
  return value + rate * (target - value);
}

/**
 * What later updates have left of an earlier change: `change · (1 − rate)^later`. Exact when the later ones had the same rate
 * and none was clipped; a moving average keeps no more than that of the order in which it was taught.
 *
 * @param later updates since the change, at least 0
 */
export function leftOf(change: number, rate: number, later: number): number {
  return change * (1 - rate) ** Math.max(0, later);
}
