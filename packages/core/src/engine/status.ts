import type { ContextCounts } from "../ledger/context-counts.js";
import type { SharedRecord } from "../ledger/shared-record.js";
import { rebuildRef, SCOPES } from "../ledger/state-keys.js";
import { emptyStats, type StatsRecord } from "../ledger/stats-record.js";
import { scanAll } from "../store/scan-all.js";
import type { Store } from "../store/store.js";
import { namespaceIn } from "./check.js";
import { labelsOf } from "./labels.js";
import { liftOf } from "./lift.js";
import { memoriesByUtility, type RankedMemory, type UtilityOrder } from "./memories-by-utility.js";
import type { EngineParts } from "./parts.js";
import type { ContextStatus, ExtremeMemory, NamespaceStatus } from "./reports.js";
import type { Engine } from "./types.js";

/** Length of the lists of best and worst memories. */
const EXTREMES = 10;
/** Episodes that must have taught before a context counts as warm, for learners without a rule of their own. */
const WARM_EPISODES = 100;
/** Length of the list of sources. */
const LISTED_SOURCES = 100;

interface CollectionState {
  readonly collection: string;
  readonly shared: SharedRecord;
}

/** The counts and extremes of a namespace. */
export async function statusOf(
  parts: EngineParts,
  options?: Parameters<Engine["status"]>[0],
): Promise<NamespaceStatus> {
  const { store, states, open, learner } = parts;
  const namespace = namespaceIn("status", options);
  const stats = (await states.stats(namespace)) ?? emptyStats(learner.id);
  const [rebuild] = await store.readStates(namespace, rebuildRef.scope, [rebuildRef.id]);
  // States of another learner cannot be read; the counters can.
  const known = stats.learner === learner.id ? await sharedStates(namespace) : [];
  return {
    namespace,
    learner: stats.learner,
    seq: await store.head(namespace),
    checkpoint: await checkpointOf(store, namespace),
    episodes: {
      open: open.all().filter((episode) => episode.namespace === namespace).length,
      recorded: stats.episodes,
      suspended: stats.suspended,
      abandoned: stats.abandoned,
    },
    outcomes: stats.outcomes,
    unknownOutcomes: stats.unknown,
    corrections: stats.corrections,
    revocations: stats.revocations ?? 0,
    rebuildPending: rebuild !== undefined,
    ...(stats.lastPruned === undefined ? {} : { lastPruned: stats.lastPruned }),
    taught: stats.taught - (stats.imports ?? 0),
    ...contextParts(stats.contexts ?? [], ({ context, taught }) =>
      learner.isWarm ? known.some(({ shared }) => learner.isWarm?.(shared.state, context)) : taught >= WARM_EPISODES,
    ),
    cappedCredits: stats.capped ?? 0,
    sources: await sources(namespace),
    ...liftParts(stats),
    collections: await collections(namespace, known),
  };

  async function sharedStates(namespace: string): Promise<CollectionState[]> {
    const found: CollectionState[] = [];
    for await (const page of scanAll(store, namespace, SCOPES.shared)) {
      for (const { id } of page) {
        const shared = await states.shared(namespace, id);
        if (shared) found.push({ collection: id, shared });
      }
    }
    return found;
  }

  async function collections(
    namespace: string,
    known: readonly CollectionState[],
  ): Promise<NamespaceStatus["collections"]> {
    const found: NamespaceStatus["collections"][number][] = [];
    for (const { collection, shared } of known) {
      const counted = await memories(namespace, collection, shared);
      found.push({ collection, ...counted, learner: learner.summarize(shared.state) });
    }
    return found;
  }

  async function sources(namespace: string): Promise<NamespaceStatus["sources"]> {
    if (!parts.governance) return [];
    const records = new Map<string, Uint8Array>();
    for await (const page of scanAll(store, namespace, SCOPES.source)) {
      for (const { id, value } of page) records.set(id, value);
    }
    return [...parts.governance.describe(records, parts.now())]
      .filter(({ audits, credited }) => audits > 0 || credited > 0)
      .sort((a, b) => b.flags.length - a.flags.length || b.audits - a.audits || (a.source < b.source ? -1 : 1))
      .slice(0, LISTED_SOURCES);
  }

  async function memories(
    namespace: string,
    collection: string,
    { memories, bands }: Pick<SharedRecord, "memories" | "bands">,
  ): Promise<Pick<NamespaceStatus["collections"][number], "memories" | "withEvidence" | "best" | "worst">> {
    const withEvidence = bands.reduce((sum, count) => sum + count, 0);
    const page = async (order: UtilityOrder, limit: number): Promise<readonly RankedMemory[]> =>
      (await memoriesByUtility(parts, namespace, collection, { order, limit })).memories;
    const few = withEvidence <= 2 * EXTREMES;
    // Of few memories the better half is best and the rest is worst, so that none is both.
    const best = await page("highest", few ? Math.ceil(withEvidence / 2) : EXTREMES);
    const worst = await page("lowest", few ? Math.floor(withEvidence / 2) : EXTREMES);
    const ends = [...best, ...worst];
    const labels = await labelsOf(
      store,
      namespace,
      collection,
      ends.map(({ id }) => id),
    );
    const extreme = ({ id, utility, evidence }: RankedMemory): ExtremeMemory => {
      const label = labels.get(id);
      return label === undefined ? { id, utility, evidence } : { id, label, utility, evidence };
    };
    return { memories, withEvidence, best: best.map(extreme), worst: worst.map(extreme) };
  }
}

/** Place of the last entry that was compacted away, 0 for a whole ledger. */
export async function checkpointOf(store: Store, namespace: string): Promise<number> {
  const [first] = await store.readEntries(namespace, { limit: 1 });
  return first ? first.seq - 1 : store.head(namespace);
}

function contextParts(
  all: readonly ContextCounts[],
  isWarm: (counts: Omit<ContextStatus, "state">) => boolean,
): Pick<NamespaceStatus, "contexts" | "otherContexts"> {
  const contexts: ContextStatus[] = [];
  let others: NamespaceStatus["otherContexts"];
  for (const { context, episodes, taught } of all) {
    if (context === undefined) others = { episodes, taught };
    else {
      const counts = { context, episodes, taught };
      contexts.push({ ...counts, state: isWarm(counts) ? "warm" : "cold" });
    }
  }
  return others ? { contexts, otherContexts: others } : { contexts };
}

function liftParts({ holdout, memoryOff }: StatsRecord): Pick<NamespaceStatus, "lift" | "memoryLift"> {
  const lift = liftOf(holdout, "learned", "holdout");
  const memoryLift = liftOf(memoryOff, "shown", "off");
  return { ...(lift && { lift }), ...(memoryLift && { memoryLift }) };
}
