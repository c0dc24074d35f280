import { clamp } from "../../scoring/bounds.js";
import type { OarShared } from "./state.js";

/**
 * A reward on the scale of successes and failures: scores that differ by little teach as much. It moves away from the mean of the
 * collection's rewards.
 *
 *     n = Σ τ + 2     μ = (Σ τ r + 1) / n     V = n μ (1 − μ)     clamp(r + (r − μ) (√(V / (V − Σ τ r (1 − r))) − 1), 0, 1)
 *
 * The root is the standard deviation of bits with their mean over that of the rewards; one success and one failure come before them.
 * It is 1 where all rewards are 0 or 1, which stay as they are.
 */
export function onOneScale(reward: number, { outcomes, rewards, between }: OarShared): number {
  const count = outcomes + 2;
  const mean = (rewards + 1) / count;
  const bits = count * mean * (1 - mean);
  return clamp(reward + (reward - mean) * (Math.sqrt(bits / (bits - between)) - 1), 0, 1);
}
