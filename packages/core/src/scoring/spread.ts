/** Arithmetic mean of a list that is not empty. It sums differences from the first value, so equal values have exactly that mean. */
export function mean(values: Float64Array): number {
  const first = values[0] as number;
  let sum = 0;
  for (const value of values) sum += value - first;
  return first + sum / values.length;
}

/**
 * Spread of a request's similarities: the population standard deviation σ. Learned shifts are measured in it, so that they weigh
 * the same in stores with close similarities and in stores with distant ones.
 * 0 for fewer than two values and exactly 0 for equal ones.
 */
export function spread(values: Float64Array): number {
  if (values.length < 2) return 0;
  const centre = mean(values);
  let squares = 0;
  for (const value of values) squares += (value - centre) * (value - centre);
  return Math.sqrt(squares / values.length);
}
