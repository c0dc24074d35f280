import type { Engine } from "@qavr/core";

/** A run that says something about a version. */
export interface RunEvidence {
  readonly episode: string;
  /** Unix ms. */
  readonly at: number;
  readonly success: boolean;
  /** Words of the report; empty without any. */
  readonly note: string;
}

/** A run that went well, and the procedures that it used. */
export interface GoodRun extends RunEvidence {
  /** Ids of memories in the collection that it used. */
  readonly used: readonly string[];
}

/** Latest runs that are kept for each version. */
const KEPT = 20;

/** The latest runs about each version, oldest first, by id in the ledger; by the last vote on it, else by the last reward of a run that used it. */
export async function runsByMemory(
  engine: Engine,
  namespace: string,
  memories: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly RunEvidence[]>> {
  const runs = new Map<string, Map<string, RunEvidence & { readonly byVote: boolean }>>();
  const users = new Map<string, readonly string[]>();
  await eachOutcome(engine, namespace, 0, ({ episode, at, reward, note, helpful, harmful, used }) => {
    const named = (used ?? []).map(({ id }) => id).filter((id) => memories.has(id));
    if (named.length > 0) users.set(episode, named);
    const say = (id: string, success: boolean, byVote: boolean): void => {
      if (!memories.has(id)) return;
      const known = runs.get(id) ?? new Map<string, RunEvidence & { readonly byVote: boolean }>();
      const before = known.get(episode);
      if (before?.byVote && !byVote) return;
      known.delete(episode);
      known.set(episode, { episode, at, success, note: note || (before?.note ?? ""), byVote });
      runs.set(id, known);
    };
    if (reward !== null) for (const id of users.get(episode) ?? []) say(id, reward >= 0.5, false);
    for (const id of helpful) say(id, true, true);
    for (const id of harmful) say(id, false, true);
  });
  return new Map([...runs].map(([id, known]) => [id, [...known.values()].slice(-KEPT)]));
}

/** Runs that went well since a moment, oldest first, with the notes on them. */
export async function goodRuns(engine: Engine, namespace: string, since: number): Promise<readonly GoodRun[]> {
  const runs = new Map<string, GoodRun>();
  await eachOutcome(engine, namespace, since, ({ episode, at, reward, note, used }) => {
    const before = runs.get(episode);
    const run = { at, note: note || (before?.note ?? ""), used: used?.map(({ id }) => id) ?? before?.used ?? [] };
    const success = reward === null ? (before?.success ?? false) : reward >= 0.5;
    runs.set(episode, { episode, success, ...run });
  });
  return [...runs.values()].filter(({ success }) => success);
}

type Outcome = Extract<Awaited<ReturnType<Engine["history"]>>["events"][number], { type: "outcome" }>;

async function eachOutcome(
  engine: Engine,
  namespace: string,
  since: number,
  work: (outcome: Outcome) => void,
): Promise<void> {
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page: Awaited<ReturnType<Engine["history"]>> = await engine.history({ namespace, after, limit: 1_000 });
    for (const event of page.events) if (event.type === "outcome" && event.at >= since) work(event);
    after = page.next;
  }
}
