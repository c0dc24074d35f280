import { hashedVector } from "../embedding/hashed-vector.js";
import { dot } from "../scoring/vectors.js";

/**
 * Cosine of the hashed vectors from which two texts count as the same. A question with another number or name in it lies at
 * 0.88 to 0.97, a question and the statement that answers it below 0.81.
 */
const NEARLY_ONE = 0.85;
/** Texts whose lengths differ by more than this factor are not compared word by word: their cosine stays below the limit. */
const LENGTH_RATIO = 1.5;

/** Finds texts that differ from this one only in case, punctuation, a number or a name. */
export function nearIdenticalTo(text: string): (other: string) => boolean {
  const vector = hashedVector(text);
  return (other) => {
    if (other === text) return true;
    if (!vector || other.length > text.length * LENGTH_RATIO || text.length > other.length * LENGTH_RATIO) return false;
    const compared = hashedVector(other);
    return compared !== undefined && dot(vector, compared) >= NEARLY_ONE;
  };
}
