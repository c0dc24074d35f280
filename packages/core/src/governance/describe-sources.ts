import type { SourceCap } from "../ledger/events.js";
import type { SourceFlag, SourceStatus } from "../ledger/governance.js";
import type { SourceRecord } from "./source-record.js";
import { trustOf } from "./trust.js";

/** Audits before contradictions say something. Range 3..20. */
const AUDITS = 5;
/** Share of agreement, in [0, 1], below which a source is contradicted. */
const AGREEMENT = 0.5;
/** Share of all credit, in [0, 1], above which a source is dominant, where there are several. */
const SHARE = 0.3;

/**
 * Describes sources and flags those that deserve a look.
 *
 * @param cap the engine's own: credit that was given under another cap in this window counts, too
 * @param now Unix ms
 */
export function describeSources(
  records: ReadonlyMap<string, SourceRecord>,
  cap: SourceCap | undefined,
  now: number,
): SourceStatus[] {
  const window = cap && Math.floor(now / cap.window);
  const credits = new Map<string, readonly number[]>();
  for (const [source, { spending }] of records) {
    // A clock that was set back stays in the window that was reached, as in charge().
    const isPresent = window !== undefined && spending.window >= window;
    credits.set(source, isPresent ? [...spending.weights.values()] : []);
  }
  const sums = new Map([...credits].map(([source, weights]) => [source, weights.reduce((sum, one) => sum + one, 0)]));
  const total = [...sums.values()].reduce((sum, one) => sum + one, 0);
  const spenders = [...sums.values()].filter((sum) => sum > 0).length;
  return [...records].map(([source, { trust, audits }]) => {
    const agreement = trust.agreed / (trust.agreed + trust.disagreed);
    const credited = sums.get(source) as number;
    const flags: SourceFlag[] = [];
    if (audits >= AUDITS && agreement < AGREEMENT) flags.push("contradicted");
    // The next outcome of full weight would not reach that memory.
    if (cap && credits.get(source)?.some((weight) => weight + 1 > cap.weight)) flags.push("capped");
    if (spenders > 1 && credited > SHARE * total) flags.push("dominant");
    return { source, trust: trustOf(trust), audits, agreement, credited, flags };
  });
}
