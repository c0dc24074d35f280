/**
 * The `count` best indices of `scores`, best first. Ties keep the order of the indices (the host's), so the order is total
 * and stable. Scores must be finite. A count beyond the length is legal.
 *
 * Only the first `movable` entries compete; the others follow in their own order.
 */
export function bestFirst(scores: Float64Array, count: number, movable: number = scores.length): number[] {
  const competitors = Math.min(movable, scores.length);
  const wanted = Math.min(count, scores.length);
  const best: number[] = [];
  // Insertion into a short list is faster than a full sort: a prompt shows a handful out of dozens.
  for (let index = 0; index < competitors; index++) {
    const score = scores[index] as number;
    if (best.length === wanted && score <= (scores[best[wanted - 1] as number] as number)) continue;
    let place = best.length < wanted ? best.push(index) - 1 : wanted - 1;
    while (place > 0 && (scores[best[place - 1] as number] as number) < score) {
      best[place] = best[place - 1] as number;
      place--;
    }
    if (wanted > 0) best[place] = index;
  }
  for (let index = competitors; best.length < wanted; index++) best.push(index);
  return best;
}
