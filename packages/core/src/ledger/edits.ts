import type { Draft } from "./draft.js";
import type { EditPolicy } from "./events.js";
import type { MemoryRecord } from "./memory-record.js";

/** Share of its evidence that a memory keeps when its text changes. */
const KEPT_AFTER_EDIT: Readonly<Record<EditPolicy, number>> = { keep: 1, discount: 0.5, reset: 0 };

/**
 * Reduces a memory's evidence to the share that a changed text keeps. The new text is not confirmed yet.
 *
 * @param isOlder true for a text that was shown before the present one and is recorded after it: it is no edit, and confirms nothing
 */
export function edit(draft: Draft, record: MemoryRecord, onEdit: EditPolicy, isOlder = false): void {
  const keep = KEPT_AFTER_EDIT[onEdit];
  if (keep === 1) return;
  // Later outcomes of runs with the old text no longer reach or confirm it; those with this entry's text do.
  const before = isOlder ? draft.seq : draft.seq - 1;
  if (keep > 0 || isOlder) {
    record.confirmed = 0;
    record.editedAt = before;
    if (!isOlder && record.learned !== undefined) draft.learner.discount(record.draft(), keep);
  } else record.startCold(before);
}
