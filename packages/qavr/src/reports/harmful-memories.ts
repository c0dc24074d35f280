import type { ExplainedItem, HistoryEvent, MemoryView } from "@qavr/core";
import { nameOf, quoted, shown } from "../terminal/text.js";
import { areSeveral } from "./collections.js";
import type { Finding } from "./finding.js";
import { wilson } from "./interval.js";
import { rewardsIn } from "./judged-runs.js";

/** Judged runs with other memories beside it that a memory must have before anything is said of it. */
const LEAST_RUNS_SHOWN = 8;
/** Runs of mean success that the expectation of a run begins with. */
const PRIOR_RUNS = 2;
/** Chance that any memory of the namespace is named by bad luck. */
const FALSE_ALARM = 0.05;
/** Memories that are named. */
const MOST_NAMED = 5;

/** A memory with the name of its collection: collections may have memories of one id. */
export type MemoryOfCollection = MemoryView & { readonly collection: string };

type Item = ExplainedItem & { readonly collection: string };

interface Suspect {
  readonly id: string;
  readonly collection: string;
  readonly label: string | undefined;
  runs: number;
  successes: number;
  /** Successes that the companions lead one to expect, and their variance. */
  expected: number;
  variance: number;
  /** Sum of the learner's estimates for these runs. */
  utility: number;
}

/**
 * Names memories whose runs fail more than can be luck, or that most votes call harmful. A run's expectation is the success of the memories
 * beside the suspect in their other runs of this kind of request, so hard requests do not make a memory look bad. Requests are of one kind
 * where the search puts the same memory first:
 *
 *     e = (2 mean + Σ successes of companions elsewhere) / (2 + Σ their runs elsewhere)
 *     z = Σ (e − r) / √Σ e (1 − e)        named where  M e^(−z²/2) / 2 < 0.05  and the learner's own estimate is below 0
 *
 * M is the number of memories tested; the bound on the normal tail is Chernoff's. Votes: the interval of the harmful share lies above one half.
 */
export function harmfulMemories({
  events,
  memories,
}: {
  readonly events: readonly HistoryEvent[];
  readonly memories: readonly MemoryOfCollection[];
}): Finding | undefined {
  const tested = suspectsIn(events).filter(({ runs }) => runs >= LEAST_RUNS_SHOWN);
  const failing = tested.filter(({ successes, expected, variance, utility }) => {
    const z = (expected - successes) / Math.sqrt(variance);
    return z > 0 && utility < 0 && (tested.length / 2) * Math.exp(-(z ** 2) / 2) < FALSE_ALARM;
  });
  const several = areSeveral([...tested, ...memories]);
  const named = new Map<string, { readonly option: string; readonly id: string; readonly line: string }>();
  const name = ({ id, label, collection }: Suspect | MemoryOfCollection, said: string): void => {
    const place = several ? ` of collection ${shown(collection)}` : "";
    const option = several ? `--collection ${quoted(collection)} ` : "";
    named.set(`${collection}\n${id}`, { option, id, line: `${nameOf({ id, label })}${place}: ${said}` });
  };
  for (const suspect of failing) {
    const { successes, runs, expected } = suspect;
    name(suspect, `${Math.round(successes)} of ${runs} runs succeeded, ${Math.round(expected)} were expected`);
  }
  for (const memory of memories) {
    const { id, collection, helpful, harmful } = memory;
    const votes = helpful + harmful;
    const isNamed = named.has(`${collection}\n${id}`);
    if (votes === 0 || isNamed || wilson(harmful / votes, votes).low <= 0.5) continue;
    name(memory, `${harmful} of ${votes} votes call it harmful`);
  }
  const [first] = named.values();
  if (first === undefined) return undefined;
  const lines = [...named.values()].map(({ line }) => line);
  const said = lines.slice(0, MOST_NAMED).join("; ");
  const more = named.size > MOST_NAMED ? `; and ${named.size - MOST_NAMED} more` : "";
  // The command line takes a word that begins with a dash for an option.
  const reference = `${first.option}${first.id.startsWith("-") ? "-- " : ""}${quoted(first.id)}`;
  return {
    id: "harmful-memories",
    finding: `Runs go worse with these memories: ${said}${more}.`,
    fix: `Read npx qavr why ${reference}. Correct the memory, or take it out of your store and forget it: forget() of @qavr/core/maintenance.`,
  };
}

/** The memories of the judged runs, each beside its companions. Runs before a memory was forgotten or corrected are not its own. */
function suspectsIn(events: readonly HistoryEvent[]): readonly Suspect[] {
  const rewards = rewardsIn(events);
  const begun = new Map<string, number>(
    events.flatMap((event) =>
      event.type === "forget" || (event.type === "revision" && event.onEdit !== "keep")
        ? event.ids.map((id) => [`${event.collection}\n${id}`, event.seq] as const)
        : [],
    ),
  );
  // A run may retrieve several times: it has one reward, and shows a memory once.
  const shown = new Map<
    string,
    { readonly seq: number; readonly reward: number; readonly kind: string; readonly items: Map<string, Item> }
  >();
  for (const event of events) {
    const reward = event.type === "exposure" ? rewards.get(event.episode)?.reward : undefined;
    if (event.type !== "exposure" || reward === undefined) continue;
    for (const { credited, collection, items, notShown } of event.exposures) {
      if (!credited) continue;
      const place = `${collection}\n${event.episode}`;
      const kind = [...items, ...notShown].find(({ hostRank }) => hostRank === 1)?.id ?? "";
      const run = shown.get(place) ?? { seq: event.seq, reward, kind, items: new Map<string, Item>() };
      shown.set(place, run);
      for (const item of items) run.items.set(`${collection}\n${item.id}`, { ...item, collection });
    }
  }
  const runs = [...shown.values()];
  const mean = runs.reduce((sum, { reward }) => sum + reward, 0) / runs.length;
  const known = new Map<string, { runs: number; successes: number }>();
  for (const { reward, kind, items } of runs) {
    for (const key of items.keys()) {
      const { runs: before, successes } = known.get(`${kind}\n${key}`) ?? { runs: 0, successes: 0 };
      known.set(`${kind}\n${key}`, { runs: before + 1, successes: successes + reward });
    }
  }
  const suspects = new Map<string, Suspect>();
  for (const { seq, reward, kind, items } of runs) {
    for (const [key, { id, collection, label, utility }] of items) {
      if (seq < (begun.get(key) ?? 0)) continue;
      const beside = [...items.keys()]
        .filter((other) => other !== key)
        .map((other) => known.get(`${kind}\n${other}`) as { runs: number; successes: number });
      if (beside.length === 0) continue;
      const elsewhere = beside.reduce((sum, one) => sum + one.runs - 1, 0);
      const succeeded = beside.reduce((sum, one) => sum + one.successes - reward, 0);
      const chance = (PRIOR_RUNS * mean + succeeded) / (PRIOR_RUNS + elsewhere);
      const none = { runs: 0, successes: 0, expected: 0, variance: 0, utility: 0 };
      const suspect = suspects.get(key) ?? { id, collection, label, ...none };
      suspects.set(key, suspect);
      suspect.runs += 1;
      suspect.successes += reward;
      suspect.expected += chance;
      suspect.variance += chance * (1 - chance);
      suspect.utility += utility;
    }
  }
  return [...suspects.values()];
}
