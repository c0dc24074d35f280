/** `value` limited to [low, high]. */
export function clamp(value: number, low: number, high: number): number {
  return value < low ? low : value > high ? high : value;
}

/** The logistic function 1 / (1 + e^−x), into (0, 1). */
export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}
