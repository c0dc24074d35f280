import type { Request } from "@qavr/lab";

/** Infers the need of a request from labelled requests before it. */
export interface NeedClassifier {
  /** Adds a request with its true needs. */
  learn(request: Request, vector: Float32Array): void;
  /** The most likely need; undefined before the first label. */
  infer(vector: Float32Array): number | undefined;
}

/** Sharpness of the vote: the best of 5, 10, 20, 40 and 80 on clinc150 and hwu64 with seed 101. */
const SHARPNESS = 10;

/**
 * A vote of all labelled requests (Nadaraya–Watson): `argmax over needs of Σ exp(10 cos(x, xᵢ))` over the requests i of the need.
 *
 * @param needs how many there are
 */
export function needClassifier(needs: number): NeedClassifier {
  const known: { readonly vector: Float32Array; readonly needs: readonly number[] }[] = [];
  return {
    learn({ needs: own }, vector) {
      known.push({ vector, needs: own });
    },
    infer(vector) {
      if (known.length === 0) return undefined;
      const votes = new Float64Array(needs);
      for (const one of known) {
        let cosine = 0;
        for (let i = 0; i < vector.length; i++) cosine += (vector[i] as number) * (one.vector[i] as number);
        const vote = Math.exp(SHARPNESS * cosine);
        for (const need of one.needs) votes[need] = (votes[need] as number) + vote;
      }
      return votes.indexOf(Math.max(...votes));
    },
  };
}
