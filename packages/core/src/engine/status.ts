import { checkOptions } from "../errors/known-fields.js";
import type { ContextCounts } from "../ledger/context-counts.js";
import { memoryScope, rebuildRef, SCOPES } from "../ledger/state-keys.js";
import { emptyStats, type StatsRecord } from "../ledger/stats-record.js";
import { scanAll } from "../store/scan-all.js";
import type { Store } from "../store/store.js";
import { assertName } from "../store/validate.js";
import { DEFAULT_NAME, ONLY_NAMESPACE } from "./check.js";
import { labelsOf } from "./labels.js";
import { liftOf } from "./lift.js";
import type { EngineParts } from "./parts.js";
import type { ContextStatus, ExtremeMemory, NamespaceStatus } from "./reports.js";
import type { Engine } from "./types.js";

/** Length of the lists of best and worst memories. */
const EXTREMES = 10;
/** Episodes that must have taught before a context counts as warm, for learners without a rule of their own. */
const WARM_EPISODES = 100;
/** Length of the list of sources. */
const LISTED_SOURCES = 100;

/** A learner's state of one collection. */
interface CollectionState {
  readonly collection: string;
  readonly state: unknown;
}

/** The counts and extremes of a namespace. */
export async function statusOf(
  parts: EngineParts,
  options: Parameters<Engine["status"]>[0] = {},
): Promise<NamespaceStatus> {
  const { store, states, open, learner } = parts;
  checkOptions(options, "status", ONLY_NAMESPACE);
  const { namespace = DEFAULT_NAME } = options;
  assertName(namespace, "namespace");
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
      open: open.count(namespace),
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
    taught: stats.taught,
    ...contextParts(stats.contexts ?? [], ({ context, taught }) =>
      learner.isWarm ? known.some(({ state }) => learner.isWarm?.(state, context)) : taught >= WARM_EPISODES,
    ),
    cappedCredits: stats.capped ?? 0,
    sources: await sources(namespace),
    ...liftPart(stats.holdout),
    collections: await collections(namespace, known),
  };

  async function sharedStates(namespace: string): Promise<CollectionState[]> {
    const found: CollectionState[] = [];
    for await (const { id } of scanAll(store, namespace, SCOPES.shared)) {
      const shared = await states.shared(namespace, id);
      if (shared) found.push({ collection: id, state: shared.state });
    }
    return found;
  }

  async function collections(
    namespace: string,
    known: readonly CollectionState[],
  ): Promise<NamespaceStatus["collections"]> {
    const found: NamespaceStatus["collections"][number][] = [];
    for (const { collection, state } of known) {
      found.push({ collection, ...(await memories(namespace, collection)), learner: learner.summarize(state) });
    }
    return found;
  }

  async function sources(namespace: string): Promise<NamespaceStatus["sources"]> {
    if (!parts.governance) return [];
    const records = new Map<string, Uint8Array>();
    for await (const { id, value } of scanAll(store, namespace, SCOPES.source)) records.set(id, value);
    return [...parts.governance.describe(records, parts.now())]
      .filter(({ audits, credited }) => audits > 0 || credited > 0)
      .sort((a, b) => b.flags.length - a.flags.length || b.audits - a.audits || (a.source < b.source ? -1 : 1))
      .slice(0, LISTED_SOURCES);
  }

  async function memories(
    namespace: string,
    collection: string,
  ): Promise<
    Pick<NamespaceStatus["collections"][number], "memories" | "withEvidence" | "utilityQuartiles" | "best" | "worst">
  > {
    const now = parts.now();
    const known: ExtremeMemory[] = [];
    let total = 0;
    for await (const { id, value } of scanAll(store, namespace, memoryScope(collection))) {
      const record = states.memory(value);
      if (record.shown === 0) continue;
      total += 1;
      if (record.learned === undefined) continue;
      const described = learner.describe(record.learned, now);
      if (described.evidence > 0) known.push({ id, ...described });
    }
    known.sort((a, b) => b.utility - a.utility || (a.id < b.id ? -1 : 1));
    // Of few memories the better half is best and the rest is worst, so that none is both.
    const best = known.slice(0, Math.min(EXTREMES, Math.ceil(known.length / 2)));
    const worst = known.slice(best.length).slice(-EXTREMES).reverse();
    const labels = await labelsOf(
      store,
      namespace,
      collection,
      [...best, ...worst].map(({ id }) => id),
    );
    const labelled = (memory: ExtremeMemory): ExtremeMemory => {
      const label = labels.get(memory.id);
      return label === undefined ? memory : { ...memory, label };
    };
    return {
      memories: total,
      withEvidence: known.length,
      utilityQuartiles: quartiles(known.map(({ utility }) => utility)),
      best: best.map(labelled),
      worst: worst.map(labelled),
    };
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

function liftPart(counts: StatsRecord["holdout"]): Pick<NamespaceStatus, "lift"> {
  const lift = liftOf(counts);
  return lift ? { lift } : {};
}

/** Of a list that falls; the nearest values, not interpolated. */
function quartiles(falling: readonly number[]): number[] {
  const last = falling.length - 1;
  return last < 0 ? [] : [1, 0.75, 0.5, 0.25, 0].map((share) => falling[Math.round(share * last)] as number);
}
