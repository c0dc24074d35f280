import { clamp } from "../scoring/bounds.js";

/** Counts of a source's claims that agreed or disagreed with better evidence. Both start at 1; the excess fades with each audit. */
export interface SourceTrust {
  readonly agreed: number;
  readonly disagreed: number;
}

/** A source without audits. Its trust is 0. */
export const UNAUDITED: SourceTrust = { agreed: 1, disagreed: 1 };

/** Share of past audits that an audit leaves, so that a source can lose what it earned. Range 0.9..1. */
const AUDIT_DECAY = 0.995;
/** Standard deviations subtracted from the mean agreement: few audits earn little trust. Range 0..2. */
const TRUST_CAUTION = 0.7;

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
 * Trust in a source's claims, τ in [0, 1].
 *
 *     m = A / (A + B)        sd = √(m (1 − m) / (A + B + 1))        τ = clamp(2 (m − 0.7 sd) − 1, 0, 1)
 *
 * 0 without an audit; 0.37 after three that agreed, 0.72 after ten. The claims of a known liar are ignored and never inverted: a
 * source that knows of the inversion could exploit it. Multiply the weight of a claim by τ; verified and observed outcomes
 * count in full. The ledger weighs old claims again when the trust in their source changes.
 */
export function trustOf({ agreed, disagreed }: SourceTrust): number {
  const total = agreed + disagreed;
  const mean = agreed / total;
  const deviation = Math.sqrt((mean * (1 - mean)) / (total + 1));
  return clamp(2 * (mean - TRUST_CAUTION * deviation) - 1, 0, 1);
}
