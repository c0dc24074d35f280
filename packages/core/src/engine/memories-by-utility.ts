import type { MemoryRecord } from "../ledger/memory-record.js";
import { memoryRef, memoryScope } from "../ledger/state-keys.js";
import { bandOf, bandScope, SLACK } from "../ledger/utility-bands.js";
import { assertUndamaged } from "../store/damaged-state.js";
import type { EngineParts } from "./parts.js";

/** Which end comes first. */
export type UtilityOrder = "lowest" | "highest";

/** A memory with evidence, as of now. */
export interface RankedMemory {
  readonly id: string;
  readonly record: MemoryRecord;
  readonly utility: number;
  readonly evidence: number;
}

/** A page of a collection's memories with evidence. */
export interface RankedPage {
  readonly memories: readonly RankedMemory[];
  /** True when further ones follow the last. */
  readonly more: boolean;
  /** Memories that this page did not look at, since their bands list too many. */
  readonly unread: number;
}

/** Records that one page reads at most. */
const MOST_READ = 10_000;

/**
 * A page of memories in the order of their utilities, from either end; one order is the reverse of the other. Reads a few bands; of a
 * learner whose utilities fade, all those up to the page. Inexact where a band lists more than {@link MOST_READ} memories.
 *
 * @param after id of the last memory of the page before
 */
export async function memoriesByUtility(
  { store, states, learner, now }: Pick<EngineParts, "store" | "states" | "learner" | "now">,
  namespace: string,
  collection: string,
  {
    order,
    after,
    limit,
  }: { readonly order: UtilityOrder; readonly after?: string | undefined; readonly limit: number },
): Promise<RankedPage> {
  const at = now();
  const sign = order === "lowest" ? 1 : -1;
  const before = (a: RankedMemory, b: RankedMemory): number =>
    sign * (a.utility - b.utility || (a.id < b.id ? 1 : -Number(a.id > b.id)));
  const read = async (ids: readonly string[]): Promise<RankedMemory[]> => {
    const found = await store.readStates(namespace, memoryScope(collection), ids);
    assertUndamaged(
      ids.map((id) => memoryRef(collection, id)),
      found,
    );
    return ids.flatMap((id, i) => {
      const record = found[i] && states.memory(found[i]);
      return record?.learned === undefined ? [] : [{ id, record, ...learner.describe(record.learned, at) }];
    });
  };

  const [last] = after === undefined ? [] : await read([after]);
  const counts = (await states.shared(namespace, collection))?.bands ?? [];
  // The last memory was forgotten after the page before, so the next page has no beginning.
  if (after !== undefined && !last) return { memories: [], more: false, unread: 0 };
  const bands = counts.flatMap((count, i) => (count > 0 ? [{ band: i + 1, count }] : []));
  if (order === "highest") bands.reverse();
  /** Fading moves a utility from its band towards 0. */
  const fades = ({ record, utility }: RankedMemory): boolean =>
    learner.describe(record.learned, Number.MAX_SAFE_INTEGER).utility !== utility;
  /** True when no memory that this band or a later one lists can come before it. */
  const precedes = (memory: RankedMemory, band: number): boolean =>
    sign * (band - bandOf(memory)) > SLACK && !(sign * memory.utility > 0 && fades(memory));
  /** True when no memory that this band or an earlier one lists can come after it. */
  const follows = (memory: RankedMemory, band: number): boolean =>
    sign * (bandOf(memory) - band) > SLACK && !(sign * memory.utility < 0 && fades(memory));
  let memories: RankedMemory[] = [];
  let more = false;
  let looked = 0;
  let unread = 0;
  for (const { band, count } of bands) {
    if (last && follows(last, band)) continue;
    const sure = memories.filter((memory) => precedes(memory, band));
    if (sure.length > limit || (sure.length > 0 && looked + count > MOST_READ)) {
      memories = sure;
      more = true;
      break;
    }
    const listed = await store.scanStates(namespace, bandScope(band, collection), { limit: MOST_READ });
    looked += listed.length;
    unread += Math.max(0, count - listed.length);
    const found = await read(listed.map(({ id }) => id));
    memories.push(...found.filter((memory) => !last || before(last, memory) < 0));
  }
  memories.sort(before);
  return { memories: memories.slice(0, limit), more: more || memories.length > limit, unread };
}
