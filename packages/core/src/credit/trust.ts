import { clamp } from "../scoring/bounds.js";

/** How often a source's claims agreed with better evidence: both start at 1, and what exceeds 1 fades with each further audit. */
export interface SourceTrust {
  readonly agreed: number;
  readonly disagreed: number;
}

/** A source that nothing is known about. Its trust is 0: influence is earned. */
export const UNAUDITED: SourceTrust = { agreed: 1, disagreed: 1 };

/** Share of past audits that an audit leaves, so that a source can lose what it earned. Range 0.9..1. */
export const AUDIT_DECAY = 0.995;
/** Standard deviations that the mean agreement is taken down by: few audits earn little. Range 0..2. */
export const TRUST_CAUTION = 0.7;

/**
 * One audit of a claim.
 *
 *     A ← 1 + d (A − 1) + w a        B ← 1 + d (B − 1) + w (1 − a)        d = 0.995^w
 *
 * @param agreement a in [0, 1]: 1 − |claimed reward − better reward|
 * @param weight w in [0, 1]: how far the judge is trusted; 0 changes nothing
 */
export function audited({ agreed, disagreed }: SourceTrust, agreement: number, weight: number): SourceTrust {
  const kept = AUDIT_DECAY ** weight;
  return {
    agreed: 1 + kept * (agreed - 1) + weight * agreement,
    disagreed: 1 + kept * (disagreed - 1) + weight * (1 - agreement),
  };
}

/**
 * How far a source's claims count, τ in [0, 1].
 *
 *     m = A / (A + B)        sd = √(m (1 − m) / (A + B + 1))        τ = clamp(2 (m − 0.7 sd) − 1, 0, 1)
 *
 * 0 without an audit; 0.37 after three that agreed, 0.72 after ten. A source that is known to lie is ignored, never inverted: an
 * inverted word could be used by whoever knows that it is. Multiply the weight of a claim by it; verified and observed outcomes
 * count in full. The ledger weighs old claims again, so that the past of a source counts as its present does.
 */
export function trustOf({ agreed, disagreed }: SourceTrust): number {
  const total = agreed + disagreed;
  const mean = agreed / total;
  const deviation = Math.sqrt((mean * (1 - mean)) / (total + 1));
  return clamp(2 * (mean - TRUST_CAUTION * deviation) - 1, 0, 1);
}
