import type { LabelledText } from "../datasets/dataset.js";
import { type Random, shuffle } from "../random/seeded-random.js";

/** All texts in random order, and again in another one, until there are enough runs. */
export function shuffledStream(texts: readonly LabelledText[], runs: number, random: Random): LabelledText[] {
  const stream: LabelledText[] = [];
  while (stream.length < runs && texts.length > 0) stream.push(...shuffle([...texts], random));
  return stream.slice(0, runs);
}

/**
 * Skewed traffic: each run is about the r-th need of a random order with a probability in proportion to 1 / r^exponent, and asks
 * the need's next text. A text counts for its first need.
 */
export function zipfStream(
  texts: readonly LabelledText[],
  runs: number,
  exponent: number,
  random: Random,
): LabelledText[] {
  const byNeed = new Map<number, LabelledText[]>();
  for (const text of texts) {
    const need = text.needs[0] as number;
    byNeed.set(need, [...(byNeed.get(need) ?? []), text]);
  }
  const ranked = shuffle([...byNeed.values()], random);
  const weights = ranked.map((_, place) => 1 / (place + 1) ** exponent);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const next = ranked.map(() => 0);
  return Array.from({ length: texts.length > 0 ? runs : 0 }, () => {
    let left = random() * total;
    let place = 0;
    while (place < weights.length - 1 && left >= (weights[place] as number)) {
      left -= weights[place] as number;
      place += 1;
    }
    const asked = ranked[place] as LabelledText[];
    const turn = next[place] as number;
    next[place] = turn + 1;
    return asked[turn % asked.length] as LabelledText;
  });
}
