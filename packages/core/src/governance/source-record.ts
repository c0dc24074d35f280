import { ByteReader, ByteWriter } from "../ledger/bytes.js";
import type { Draft } from "../ledger/draft.js";
import { sourceRef } from "../ledger/state-keys.js";
import { assertLayout } from "../ledger/unreadable.js";
import type { Spending } from "./caps.js";
import { type SourceTrust, UNAUDITED } from "./trust.js";

/** The record of one source that was audited or capped. */
export interface SourceRecord {
  trust: SourceTrust;
  /** Claims that were held against better evidence. */
  audits: number;
  readonly spending: Spending;
}

/** First byte of the record: a change of layout is a new one. */
const LAYOUT = 1;

export function emptySource(): SourceRecord {
  return { trust: UNAUDITED, audits: 0, spending: { window: 0, weights: new Map() } };
}

export function encodeSource({ trust, audits, spending }: SourceRecord): Uint8Array {
  const writer = new ByteWriter().u8(LAYOUT).f64(trust.agreed).f64(trust.disagreed).count(audits).f64(spending.window);
  return writer.list([...spending.weights], ([memory, weight]) => writer.u32(memory).f64(weight)).finish();
}

/** @throws INVALID_STATE for another layout or damaged bytes */
export function decodeSource(bytes: Uint8Array): SourceRecord {
  const reader = new ByteReader(bytes);
  assertLayout(reader.u8(), LAYOUT, "source");
  return {
    trust: { agreed: reader.f64(), disagreed: reader.f64() },
    audits: reader.count(),
    spending: { window: reader.f64(), weights: new Map(reader.list(() => [reader.u32(), reader.f64()] as const)) },
  };
}

/** A source's record in a draft, as a copy. It must have been loaded. */
export function sourceOf<Shared, Memory>(draft: Draft<Shared, Memory>, source: string): SourceRecord {
  const bytes = draft.value(sourceRef(source));
  return bytes ? decodeSource(bytes) : emptySource();
}

export function keepSource<Shared, Memory>(draft: Draft<Shared, Memory>, source: string, record: SourceRecord): void {
  draft.keepValue(sourceRef(source), encodeSource(record));
}
