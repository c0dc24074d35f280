import type { DocumentInterface } from "@langchain/core/documents";
import type { RunKit } from "@qavr/core/adapter";
import { isWithin, type RootRun, type RunNode, type ShownExposure } from "./run-tree.js";

/**
 * Narrows the exposures of a retriever's inner parts (over-fetching, ensembles, compressors) to the documents that it returned.
 * The outermost retriever returns last, so its list is final. Documents are recognised by identity, text or a metadata object of their own,
 * else by id, since some stages rebuild them. A retriever that returned nothing recognisable (parents in place of chunks) changes nothing.
 */
export function narrowToReturned(kit: RunKit, run: RunNode, returned: readonly DocumentInterface[]): void {
  const exposures = run.root.exposures.filter((exposure) => isWithin(exposure.run, run));
  const identical = new Set(returned);
  // The usual case: nothing was lost, so nothing has to be recognised by its text.
  if (exposures.every(({ items }) => items.every(({ document }) => identical.has(document)))) return;
  const own = ownMetadata(exposures);
  const known = new Set(exposures.flatMap(({ items }) => items.flatMap(({ document }) => marksOf(document, own))));
  const marks = new Set(
    returned.flatMap((document) => {
      const sure = marksOf(document, own).filter((mark) => known.has(mark));
      return sure.length > 0 ? sure : idMarksOf(document);
    }),
  );
  const kept = exposures.map(({ items }) =>
    items
      .filter(({ document }) => [...marksOf(document, own), ...idMarksOf(document)].some((mark) => marks.has(mark)))
      .map(({ id }) => id),
  );
  if (returned.length > 0 && kept.every((ids) => ids.length === 0)) return;
  exposures.forEach((exposure, i) => {
    const ids = kept[i] as string[];
    if (ids.length < exposure.items.length) narrow(kit, run.root, exposure, ids);
  });
}

/** Narrows exposures whose memories reached no model to nothing, as when a guard ended the run before the first model call. */
export function narrowUnread(kit: RunKit, root: RootRun): void {
  for (const exposure of root.unread) narrow(kit, root, exposure, []);
}

/** The metadata objects that one memory alone has: `fromTexts(texts, {})` gives all documents the same one. */
function ownMetadata(exposures: readonly ShownExposure[]): ReadonlySet<unknown> {
  const ids = new Map<unknown, Set<string>>();
  for (const { id, document } of exposures.flatMap(({ items }) => items)) {
    const { metadata } = document;
    if (metadata) ids.set(metadata, (ids.get(metadata) ?? new Set()).add(id));
  }
  return new Set([...ids.keys()].filter((metadata) => ids.get(metadata)?.size === 1));
}

/** The values by which a document is recognised. */
function marksOf(document: DocumentInterface, own: ReadonlySet<unknown>): unknown[] {
  const { metadata, pageContent } = document;
  return [document, ...(own.has(metadata) ? [metadata] : []), ...(pageContent ? [`text:${pageContent}`] : [])];
}

/** The weakest one, since two stores may have the same ids. The prefix keeps it from matching a text. */
function idMarksOf({ id }: DocumentInterface): string[] {
  return id ? [`id:${id}`] : [];
}

function narrow({ log }: RunKit, { session }: RootRun, exposure: ShownExposure, ids: readonly string[]): void {
  exposure.items = exposure.items.filter(({ id }) => ids.includes(id));
  try {
    session.shown(exposure, ids);
  } catch (error) {
    log("warn", "OUTCOME_NOT_RECORDED", "A retriever's final list could not be recorded.", { error });
  }
}
