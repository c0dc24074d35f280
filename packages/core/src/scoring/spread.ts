/** Arithmetic mean of a list that is not empty. Summed as differences from the first value: equal values have exactly that mean. */
export function mean(values: Float64Array): number {
  const first = values[0] as number;
  let sum = 0;
  for (const value of values) sum += value - first;
  return first + sum / values.length;
}

/**
 * Spread of a request's similarities: the population standard deviation σ. Learned shifts are measured in it, so that stores
 * whose similarities lie close together are not overruled and stores whose similarities lie far apart are not deaf.
 * 0 for fewer than two values and exactly 0 for equal ones.
 */
export function spread(values: Float64Array): number {
  if (values.length < 2) return 0;
  const centre = mean(values);
  let squares = 0;
  for (const value of values) squares += (value - centre) * (value - centre);
  return Math.sqrt(squares / values.length);
}

/** `(x − mean) / spread` over a list; all 0 where nothing spreads. */
export function standardised(values: Float64Array): Float64Array {
  const deviation = spread(values);
  if (deviation === 0) return new Float64Array(values.length);
  const centre = mean(values);
  return values.map((value) => (value - centre) / deviation);
}
