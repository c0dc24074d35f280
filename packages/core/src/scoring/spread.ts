/** Arithmetic mean of a list that is not empty. */
export function mean(values: Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

/**
 * Spread of a request's similarities: the population standard deviation σ. Learned shifts are measured in it, so that stores
 * whose similarities lie close together are not overruled and stores whose similarities lie far apart are not deaf.
 * 0 for fewer than two values.
 */
export function spread(values: Float64Array): number {
  if (values.length < 2) return 0;
  const centre = mean(values);
  let squares = 0;
  for (const value of values) squares += (value - centre) * (value - centre);
  return Math.sqrt(squares / values.length);
}
