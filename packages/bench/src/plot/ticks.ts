/**
 * Round tick values that cover [low, high], both finite: steps of 1, 2 or 5 times a power of ten, about `wanted` of them. A range
 * without extent is widened, since a flat line needs an axis too.
 */
export function niceTicks(low: number, high: number, wanted = 5): readonly number[] {
  if (low === high) return niceTicks(low - 0.5, high + 0.5, wanted);
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const ticks: number[] = [];
  const last = Math.ceil(high / step - 1e-9);
  for (let multiple = Math.floor(low / step + 1e-9); multiple <= last; multiple++) {
    // Through a decimal string, so that 3 · 0.1 prints as 0.3.
    ticks.push(Number((multiple * step).toPrecision(12)));
  }
  return ticks;
}
