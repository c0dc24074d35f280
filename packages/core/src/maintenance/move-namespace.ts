import { NAME } from "../engine/check.js";
import { type EngineParts, partsOf } from "../engine/parts.js";
import type { Engine } from "../engine/types.js";
import { checkFields } from "../errors/field-rules.js";
import { illegalOption } from "../errors/illegal-option.js";
import { QavrError } from "../errors/qavr-error.js";
import type { Store } from "../store/store.js";
import { commitEvent } from "./commit-event.js";
import { copyLedger } from "./copy-ledger.js";
import type { MoveReport } from "./reports.js";

/** Which namespace goes where. */
export interface MoveOptions {
  readonly namespace: string;
  /** Name of a store of the routed store. */
  readonly to: string;
}

/**
 * Takes a namespace of a routed store to another of its stores, under writers: copies the ledger, folds it there, catches up, and
 * records the move as an entry. Writers wait while the entries since are copied, some milliseconds. A move that was interrupted is
 * finished by repeating it. The store that was left keeps its copy up to the move.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, LEARNER_MISMATCH, UNSUPPORTED for a store that is not routed and for a compacted
 *   ledger, STORE_FAILED where the target has other entries, and the stores' codes
 */
export async function moveNamespace(engine: Engine, options: MoveOptions): Promise<MoveReport> {
  const parts = partsOf(engine);
  checkFields("moveNamespace", options, { namespace: NAME, to: NAME }, ["namespace", "to"]);
  const { namespace, to } = options;
  const { places } = parts.store;
  if (!places) {
    throw new QavrError(
      "UNSUPPORTED",
      `The ${parts.store.name} store is one store. Move between those of routedStore().`,
      {
        details: { store: parts.store.name },
      },
    );
  }
  if (!Object.hasOwn(places.stores, to)) {
    throw illegalOption("to", `to must be one of ${Object.keys(places.stores).join(", ")}`, to);
  }
  return parts.tasks.track(moveNow(parts, places, namespace, to));
}

async function moveNow(
  parts: EngineParts,
  places: NonNullable<Store["places"]>,
  namespace: string,
  to: string,
): Promise<MoveReport> {
  const { store, states, learner, log } = parts;
  const copyTo = (name: string, holder: string): Promise<number> =>
    copyLedger({ from: places.stores[holder] as Store, to: places.stores[name] as Store, namespace, learner });
  let from: string | undefined;
  for (;;) {
    const { holder, place } = await places.locate(namespace);
    from ??= holder;
    if (holder !== place) {
      // Writers wait from here on.
      await copyTo(place, holder);
      continue;
    }
    if (holder === to) {
      const report = { namespace, from, to, entries: await store.head(namespace) };
      log("info", "A namespace lives in another store now.", { code: "NAMESPACE_MOVED", ...report });
      return report;
    }
    await states.ownStats(namespace);
    await copyTo(to, holder);
    await commitEvent(parts, namespace, { type: "move", to });
  }
}
