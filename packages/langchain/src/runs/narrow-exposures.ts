import type { DocumentInterface } from "@langchain/core/documents";
import { QavrError } from "@qavr/core";
import type { Internals } from "../internals.js";
import { isWithin, type RootRun, type RunNode, type ShownExposure } from "./run-tree.js";

/**
 * A retriever has returned: of what its inner parts showed (over-fetching, ensembles, compressors), only the documents that
 * it returned went on. The outermost one, which returns last, has the last word on what reached the prompt. Documents are
 * recognised by identity, else by id, metadata object or text, since some stages rebuild them. A retriever that returned
 * nothing recognisable (parents in place of chunks) leaves everything as it is.
 */
export function narrowToReturned(internals: Internals, run: RunNode, returned: readonly DocumentInterface[]): void {
  const exposures = run.root.exposures.filter((exposure) => isWithin(exposure.run, run));
  const identical = new Set(returned);
  // Nothing was lost on the way, as is usual: no need to recognise anything by its text.
  if (exposures.every(({ items }) => items.every(({ document }) => identical.has(document)))) return;
  const kept = exposures.map((exposure) => survivors(exposure, returned));
  if (returned.length > 0 && kept.every((ids) => ids.length === 0)) return;
  exposures.forEach((exposure, i) => {
    const ids = kept[i] as string[];
    if (ids.length < exposure.items.length) narrow(internals, exposure, ids);
  });
}

/** What was retrieved ahead for a model that was never called, as when a guard ends the run before it, was shown to nobody. */
export function narrowUnread(internals: Internals, { unread }: RootRun): void {
  for (const exposure of unread) narrow(internals, exposure, []);
}

function survivors({ items }: ShownExposure, returned: readonly DocumentInterface[]): string[] {
  const marks = new Set<unknown>(returned.flatMap(marksOf));
  return items.filter(({ document }) => marksOf(document).some((mark) => marks.has(mark))).map(({ id }) => id);
}

/** What a document may be recognised by. The prefixes keep an id from passing for a text. */
function marksOf(document: DocumentInterface): unknown[] {
  const { id, metadata, pageContent } = document;
  return [document, metadata, `text:${pageContent}`, ...(id === undefined ? [] : [`id:${id}`])];
}

function narrow({ engine, log }: Internals, { episode, exposure }: ShownExposure, ids: readonly string[]): void {
  try {
    engine.narrow(episode, exposure, ids);
  } catch (error) {
    // The episode may have been given up meanwhile; what was shown is then recorded as it was.
    if (!QavrError.isInstance(error, "UNKNOWN_EPISODE")) {
      log("warn", "OUTCOME_NOT_RECORDED", "What a retriever finally returned could not be noted.", {
        error,
      });
    }
  }
}
