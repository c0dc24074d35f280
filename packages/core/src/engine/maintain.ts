import { QavrError } from "../errors/qavr-error.js";
import { foldLedger } from "../ledger/replay.js";
import { stateAddress } from "../store/state-address.js";
import { assertName, sameBytes } from "../store/validate.js";
import { checkCollection, DEFAULT_NAME } from "./check.js";
import type { EngineContext } from "./context.js";
import { toEntry } from "./recorder.js";
import type { ReplayReport } from "./types.js";

/** Differences that a report names. */
const NAMED_DIFFERENCES = 100;
/** States compared per read. */
const BATCH = 500;
/** How often a rebuild starts again because the ledger grew under it. */
const ATTEMPTS = 5;

export interface Maintainer {
  forget(options: {
    readonly namespace: string;
    readonly collection?: string;
    readonly ids?: readonly string[];
  }): Promise<void>;
  replay(options?: { readonly namespace?: string; readonly write?: boolean }): Promise<ReplayReport>;
}

export function createMaintainer(context: EngineContext): Maintainer {
  const { store, open, recorder, reduce } = context;

  return {
    async forget({ namespace, collection = DEFAULT_NAME, ids }) {
      assertName(namespace, "namespace");
      checkCollection(collection);
      for (const id of ids ?? []) assertName(id, "memory id");
      const gone = ids && new Set(ids);
      for (const episode of open.all()) {
        if (episode.namespace !== namespace) continue;
        if (!gone) open.remove(episode);
        else {
          for (const exposure of episode.exposures) {
            if (exposure.collection !== collection) continue;
            exposure.shown = exposure.shown.filter((item) => !gone.has(exposure.ids[item.candidate] as string));
          }
        }
      }
      if (!ids) await store.eraseNamespace(namespace);
      else if (ids.length > 0) {
        const event = { type: "forget", collection, ids: [...new Set(ids)] } as const;
        await recorder.commit(namespace, toEntry(`forget:${context.createId()}`, event, context.now()));
      }
    },

    async replay({ namespace = DEFAULT_NAME, write = false } = {}) {
      assertName(namespace, "namespace");
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const head = await store.head(namespace);
        const fold = await foldLedger(store, namespace, reduce);
        // The ledger grew while it was read: states and fold would differ for that alone.
        if (fold.entries !== head) continue;
        const differences = await compare(namespace, fold.states);
        if ((await store.head(namespace)) !== head) continue;
        if (write && !(await store.replaceStates(namespace, head, fold.states))) continue;
        return {
          namespace,
          entries: fold.entries,
          states: fold.states.length,
          differences: differences.slice(0, NAMED_DIFFERENCES),
          identical: differences.length === 0,
          written: write,
        };
      }
      throw new QavrError(
        "STORE_BUSY",
        `Namespace ${namespace} was written to during each of ${ATTEMPTS} replays. Pause its writers and try again.`,
        { details: { namespace } },
      );
    },
  };

  /** Addresses of states that differ from the fold, in either direction. */
  async function compare(
    namespace: string,
    states: readonly { readonly scope: string; readonly id: string; readonly value: Uint8Array }[],
  ): Promise<string[]> {
    const differences: string[] = [];
    const byScope = Map.groupBy(states, ({ scope }) => scope);
    for (const [scope, folded] of byScope) {
      for (let start = 0; start < folded.length; start += BATCH) {
        const batch = folded.slice(start, start + BATCH);
        const stored = await store.readStates(
          namespace,
          scope,
          batch.map(({ id }) => id),
        );
        batch.forEach((state, i) => {
          const bytes = stored[i];
          if (!bytes || !sameBytes(bytes, state.value)) differences.push(stateAddress(state));
        });
      }
      const known = new Set(folded.map(({ id }) => id));
      for (let after: string | undefined; ; ) {
        const page = await store.scanStates(
          namespace,
          scope,
          after === undefined ? { limit: BATCH } : { after, limit: BATCH },
        );
        for (const { id } of page) if (!known.has(id)) differences.push(stateAddress({ scope, id }));
        if (page.length < BATCH) break;
        after = page.at(-1)?.id;
      }
    }
    return differences;
  }
}
