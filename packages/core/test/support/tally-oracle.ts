import type { Engine, HistoryEvent, MemoryView } from "../../src/index.js";
import { OUTCOME_TIERS } from "../../src/index.js";

type Exposed = Extract<HistoryEvent, { type: "exposure" }>;
type Said = Extract<HistoryEvent, { type: "outcome" }>;
type Counts = Omit<MemoryView, "utility" | "evidence" | "contentHash">;

/** Every event of the default namespace, in pages of seven. */
export async function wholeHistory(engine: Engine): Promise<readonly HistoryEvent[]> {
  const all: HistoryEvent[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page: Awaited<ReturnType<Engine["history"]>> = await engine.history({ after, limit: 7 });
    all.push(...page.events);
    after = page.next;
  }
  return all;
}

/** Every memory of a collection, in pages of three. */
export async function allMemories(engine: Engine, collection = "default"): Promise<readonly MemoryView[]> {
  const all: MemoryView[] = [];
  for (let page: Awaited<ReturnType<Engine["memories"]>> | undefined; page === undefined || page.next !== undefined; ) {
    page = await engine.memories({ collection, limit: 3, ...(page ? { after: page.next } : {}) });
    all.push(...page.memories);
  }
  return all;
}

/**
 * The counts of every memory of a collection, from the whole history at once. For engines without governance whose edits reset nothing.
 */
export function countedFrom(history: readonly HistoryEvent[], collection: string): ReadonlyMap<string, Counts> {
  const forgotten = new Map<string, number>();
  for (const event of history) {
    if (event.type !== "forget" || event.collection !== collection) continue;
    for (const id of event.ids) forgotten.set(id, event.seq);
  }
  const revoked = (said: Said): boolean =>
    history.some(
      (event) =>
        event.type === "revoke" &&
        said.seq < event.seq &&
        (event.source ?? said.source) === said.source &&
        said.seq >= event.fromSeq &&
        said.seq <= event.toSeq,
    );
  const counts = new Map<string, Counts>();
  const of = (id: string): { -readonly [Field in keyof Counts]: Counts[Field] } => {
    const known = counts.get(id) ?? {
      ...{ id, shown: 0, used: 0, successes: 0, failures: 0, helpful: 0, harmful: 0, wins: 0, losses: 0 },
    };
    counts.set(id, known);
    return known;
  };
  const showing = history.filter((event): event is Exposed => event.type === "exposure");
  const parts = showing.flatMap((event) =>
    event.exposures
      .filter((exposure) => exposure.collection === collection)
      .map((exposure) => {
        const ids = new Set(exposure.items.map(({ id }) => id));
        return { ...event, ...exposure, ids: [...ids].filter((id) => event.seq > (forgotten.get(id) ?? 0)) };
      }),
  );
  for (const { ids, at } of parts) {
    for (const id of ids) {
      const known = of(id);
      known.shown += 1;
      known.lastShown = Math.max(known.lastShown ?? 0, at);
    }
  }
  for (const episode of new Set(showing.map((event) => event.episode))) {
    const begun = showing.find((event) => event.episode === episode)?.seq as number;
    const said = history.filter(
      (event): event is Said =>
        event.type === "outcome" && event.episode === episode && event.seq > begun && !revoked(event),
    );
    const credited = new Set(
      parts.filter((part) => part.episode === episode && part.credited).flatMap(({ ids }) => ids),
    );
    const rewarding = best(said.filter((outcome) => outcome.reward !== null));
    const reward = rewarding?.reward ?? undefined;
    const voting = said.filter(({ helpful, harmful, neutral }) => helpful.length + harmful.length + neutral.length > 0);
    const votes = voting.filter(({ tier }) => tier === best(voting)?.tier);
    const lists = said.flatMap(({ used }) => (used ? [used] : []));
    const own = lists.filter((list) => list.every(({ by }) => by === "application"));
    // An application knows better than what was found.
    const used = new Set((own.length > 0 ? own : lists).flat().map(({ id }) => id));
    for (const id of credited) {
      const known = of(id);
      if (reward !== undefined && reward !== null) {
        if (reward >= 0.5) known.successes += 1;
        else known.failures += 1;
      }
      const last = votes.findLast(({ helpful, harmful, neutral }) => [helpful, harmful, neutral].flat().includes(id));
      if (last?.helpful.includes(id)) known.helpful += 1;
      if (last?.harmful.includes(id)) known.harmful += 1;
      if (used.has(id)) known.used += 1;
      const vote = last?.helpful.includes(id) ? "wins" : last?.harmful.includes(id) ? "losses" : undefined;
      const byReward = rewarding && used.has(id) ? ((rewarding.reward ?? 0) >= 0.5 ? "wins" : "losses") : undefined;
      const isOutranked = rewarding && last && best([last, rewarding]) === rewarding && last.tier !== rewarding.tier;
      const verdict = isOutranked ? (byReward ?? vote) : (vote ?? byReward);
      if (verdict) known[verdict] += 1;
    }
  }
  return counts;
}

/** The later one of the best tier. */
function best(said: readonly Said[]): Said | undefined {
  const rank = ({ tier }: Said): number => OUTCOME_TIERS.indexOf(tier);
  return said.reduce<Said | undefined>((known, next) => (known && rank(known) < rank(next) ? known : next), undefined);
}
