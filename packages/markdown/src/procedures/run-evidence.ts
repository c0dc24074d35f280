import { type Engine, OUTCOME_TIERS } from "@qavr/core";

/** A run that says something about a version. */
export interface RunEvidence {
  readonly episode: string;
  /** Unix ms. */
  readonly at: number;
  readonly success: boolean;
  /** Words of the report; empty without any. */
  readonly note: string;
}

/** Latest runs that are kept for each version. */
const KEPT = 20;

/** A verdict on a version in a run; undefined for a report that was taken back. */
interface Verdict {
  readonly success: boolean | undefined;
  /** Place of its tier, the best first. */
  readonly tier: number;
}

/** All verdicts on a version in a run. */
interface AboutRun extends Pick<RunEvidence, "episode" | "at" | "note"> {
  readonly vote?: Verdict;
  readonly reward?: Verdict;
}

/** The latest runs about each version, oldest first, by id in the ledger; by the vote on it, or by the reward of a run that used it: the better tier. */
export async function runsByMemory(
  engine: Engine,
  namespace: string,
  memories: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly RunEvidence[]>> {
  const runs = new Map<string, Map<string, AboutRun>>();
  const outcomes = await outcomesSince(engine, namespace, 0);
  // A run may use several, and be judged before that is known.
  const users = new Map<string, Set<string>>();
  for (const { episode, used = [] } of outcomes) {
    const named = used.map(({ id }) => id).filter((id) => memories.has(id));
    if (named.length > 0) users.set(episode, new Set([...(users.get(episode) ?? []), ...named]));
  }
  for (const { episode, at, reward, tier, note, helpful, harmful, neutral } of outcomes) {
    const say = (id: string, kind: "vote" | "reward", success: boolean | undefined): void => {
      if (!memories.has(id)) return;
      const known = runs.get(id) ?? new Map<string, AboutRun>();
      const before = known.get(episode);
      const verdict = better(before?.[kind], { success, tier: OUTCOME_TIERS.indexOf(tier) });
      known.delete(episode);
      known.set(episode, { ...before, episode, at, note: note || (before?.note ?? ""), [kind]: verdict });
      runs.set(id, known);
    };
    if (reward !== null) for (const id of users.get(episode) ?? []) say(id, "reward", reward >= 0.5);
    for (const id of helpful) say(id, "vote", true);
    for (const id of harmful) say(id, "vote", false);
    for (const id of neutral) say(id, "vote", undefined);
  }
  return new Map([...runs].map(([id, known]) => [id, [...known.values()].flatMap(evidenceOf).slice(-KEPT)]));
}

/** The one of the better tier; of equal tiers the later one. */
function better(before: Verdict | undefined, later: Verdict): Verdict {
  return before && before.tier < later.tier ? before : later;
}

/** Of equal tiers the vote counts. */
function evidenceOf({ vote, reward, ...run }: AboutRun): RunEvidence[] {
  const isVoted = vote?.success !== undefined && (!reward || vote.tier <= reward.tier);
  const success = isVoted ? vote.success : reward?.success;
  return success === undefined ? [] : [{ ...run, success }];
}

/** Runs that went well since a moment by their best tier, oldest first, with the notes on them. */
export async function goodRuns(engine: Engine, namespace: string, since: number): Promise<readonly RunEvidence[]> {
  const runs = new Map<string, RunEvidence & { readonly verdict?: Verdict }>();
  for (const { episode, at, reward, tier, note } of await outcomesSince(engine, namespace, since)) {
    const before = runs.get(episode);
    const run = { at, note: note || (before?.note ?? "") };
    const verdict =
      reward === null
        ? before?.verdict
        : better(before?.verdict, { success: reward >= 0.5, tier: OUTCOME_TIERS.indexOf(tier) });
    runs.set(episode, { episode, success: verdict?.success ?? false, ...(verdict ? { verdict } : {}), ...run });
  }
  return [...runs.values()].filter(({ success }) => success);
}

type Event = Awaited<ReturnType<Engine["history"]>>["events"][number];
type Outcome = Extract<Event, { type: "outcome" }>;
type Revocation = Extract<Event, { type: "revoke" }>;

/** The outcomes since a moment in order, without those that were revoked later. */
async function outcomesSince(engine: Engine, namespace: string, since: number): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  const revocations: Revocation[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page: Awaited<ReturnType<Engine["history"]>> = await engine.history({ namespace, after, limit: 1_000 });
    for (const event of page.events) {
      if (event.type === "outcome" && event.at >= since) outcomes.push(event);
      if (event.type === "revoke") revocations.push(event);
    }
    after = page.next;
  }
  return outcomes.filter(
    (outcome) => !revocations.some((revocation) => revocation.seq > outcome.seq && covers(revocation, outcome)),
  );
}

function covers({ source, from, to, fromSeq, toSeq }: Revocation, outcome: Outcome): boolean {
  const { at, seq } = outcome;
  return (
    (source === undefined || source === outcome.source) && from <= at && at <= to && fromSeq <= seq && seq <= toSeq
  );
}
