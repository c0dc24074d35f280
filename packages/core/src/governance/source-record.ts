import { ByteReader, ByteWriter, type Coder, NOTHING } from "../ledger/bytes.js";
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

function emptySource(): SourceRecord {
  return { trust: UNAUDITED, audits: 0, spending: { window: 0, weights: new Map() } };
}

export function encodeSource(record: SourceRecord): Uint8Array {
  const writer = new ByteWriter();
  writer.u8(LAYOUT);
  codeSource(writer, record);
  return writer.finish();
}

/** @throws INVALID_STATE for another layout or damaged bytes */
export function decodeSource(bytes: Uint8Array): SourceRecord {
  const reader = new ByteReader(bytes);
  assertLayout(reader.u8(), LAYOUT, "source");
  return codeSource(reader, NOTHING);
}

function codeSource(coder: Coder, { trust, audits, spending }: Partial<SourceRecord>): SourceRecord {
  return {
    trust: { agreed: coder.f64(trust?.agreed), disagreed: coder.f64(trust?.disagreed) },
    audits: coder.count(audits),
    spending: {
      window: coder.f64(spending?.window),
      weights: new Map(
        coder.list(spending && [...spending.weights], (item, pair) => [item.u32(pair[0]), item.f64(pair[1])]),
      ),
    },
  };
}

/** A source's record in a draft, as a copy. It must have been loaded. */
export function sourceOf(draft: Draft, source: string): SourceRecord {
  const bytes = draft.value(sourceRef(source));
  return bytes ? decodeSource(bytes) : emptySource();
}

export function keepSource(draft: Draft, source: string, record: SourceRecord): void {
  draft.keepValue(sourceRef(source), encodeSource(record));
}
