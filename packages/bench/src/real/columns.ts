import { mean, normal, seededRandom, shuffle, uniformAt } from "@qavr/lab";
import { loadRealSet, type RealCandidate, type RealRequest, type RealSetName } from "./real-sets.js";

/**
 * Source of the host's similarity: the set's own, noise N(0.5, 0.1) per request and candidate, one wrong order for all requests
 * (a random permutation between 0.33 and 0.67), or 0.5 everywhere.
 */
export type Host = "given" | (typeof MADE_HOSTS)[number];

const MADE_HOSTS = ["noise", "fixed", "constant"] as const;

/** One column of the tables: a set of real outcomes, behind a host. */
export interface Column {
  readonly name: string;
  readonly set: RealSetName;
  readonly host: Host;
  /** Memories shown for each request. */
  readonly k: number;
  /** Takes a part of the set. @default all of it */
  readonly part?: (requests: readonly RealRequest[]) => readonly RealRequest[];
  /** The host names the category of each request as its context. @default false */
  readonly told?: boolean;
}

/** The candidates that are neither nearly always right nor mostly wrong. */
const MIDDLING = {
  part: (requests: readonly RealRequest[]) => keepCandidates(requests, (rate) => rate >= 0.5 && rate <= 0.8),
};
/** The requests that fewest candidates solve, and the ten weakest candidates: success is rare. */
const RARE = {
  part(requests: readonly RealRequest[]): readonly RealRequest[] {
    const rate = (request: RealRequest): number => mean(request.candidates.map(({ outcome }) => outcome));
    const hardest = [...requests].sort((a, b) => rate(a) - rate(b)).slice(0, Math.round(0.4 * requests.length));
    const tenth = [...ratesOf(requests).values()].sort((a, b) => a - b)[9] as number;
    return keepCandidates(requests, (value) => value <= tenth).filter(({ id }) => hardest.some((one) => one.id === id));
  },
};

/** Sets, or parts of one, that the tables compare. */
const TABLED: readonly (Pick<Column, "name" | "set" | "part"> & {
  /** The set has similarities of its own. @default false */
  readonly given?: boolean;
  /** Numbers of memories shown. @default one and three */
  readonly shown?: readonly number[];
})[] = [
  { name: "bfcl-mid", set: "bfcl-models", ...MIDDLING },
  { name: "bfcl", set: "bfcl-models" },
  { name: "bfcl-rare", set: "bfcl-models", ...RARE },
  { name: "mawps", set: "prompts-mawps" },
  { name: "gsm8k", set: "prompts-gsm8k" },
  // Their requests have two or three candidates.
  { name: "gorilla-docs", set: "gorilla-docs", given: true, shown: [1] },
  { name: "feedbackqa", set: "feedbackqa", given: true, shown: [1] },
  { name: "skills", set: "skills", given: true },
];

/** Every set behind every host, with one and with three memories shown, in the order of the tables. */
export const COLUMNS: readonly Column[] = TABLED.flatMap(({ name, set, part, given, shown = [1, 3] }) =>
  shown.flatMap((k) =>
    (given ? (["given", ...MADE_HOSTS] as const) : MADE_HOSTS).map(
      (host): Column => ({
        name: `${name}, ${host}${k > 1 ? `, k = ${k}` : ""}`,
        set,
        host,
        k,
        ...(part ? { part } : {}),
      }),
    ),
  ),
);

const WITH_CATEGORIES: readonly RealSetName[] = ["bfcl-models", "skills"];

/** The columns of sets with categories, with one memory shown, for a host that tells the category. */
export const TOLD_COLUMNS: readonly Column[] = COLUMNS.filter(
  ({ set, k }) => WITH_CATEGORIES.includes(set) && k === 1,
).map((own) => ({ ...own, name: toldName(own.name), told: true }));

/** Name of a column for a host that tells the category. */
export function toldName(column: string): string {
  return `${column}, told`;
}

/** A request as the host answers it: candidates by falling similarity, equal ones in random order. */
export interface HostedRequest extends RealRequest {
  readonly candidates: readonly (RealCandidate & { readonly similarity: number })[];
}

/** A column with the luck of one seed: the order of the stream, what is held out, the host's similarities. */
export interface Replay {
  readonly column: Column;
  readonly seed: number;
  readonly stream: readonly HostedRequest[];
  readonly heldOut: readonly HostedRequest[];
}

const STREAM_SHARE = 0.7;

/** Draws the replay of a seed. Same seed, same replay, for every learner. */
export async function replayOf(column: Column, seed: number): Promise<Replay> {
  const all = await loadRealSet(column.set);
  const requests = shuffle([...(column.part?.(all) ?? all)], seededRandom(seed));
  const similaritiesOf = hostOf(column.host, requests, seed);
  const hosted = requests.map((request, place): HostedRequest => {
    const similarities = similaritiesOf(request, place);
    const candidates = request.candidates.map((one, at) => ({ ...one, similarity: similarities[at] as number }));
    const random = seededRandom(Math.floor(uniformAt(seed, place, 2) * 2 ** 32));
    return { ...request, candidates: shuffle(candidates, random).sort((a, b) => b.similarity - a.similarity) };
  });
  const runs = Math.round(STREAM_SHARE * hosted.length);
  return { column, seed, stream: hosted.slice(0, runs), heldOut: hosted.slice(runs) };
}

function hostOf(
  host: Host,
  requests: readonly RealRequest[],
  seed: number,
): (request: RealRequest, place: number) => readonly number[] {
  if (host === "given") return ({ candidates }) => candidates.map(({ similarity }) => similarity as number);
  if (host === "constant") return ({ candidates }) => candidates.map(() => 0.5);
  if (host === "noise") {
    return ({ candidates }, place) => {
      const random = seededRandom(Math.floor(uniformAt(seed, place, 3) * 2 ** 32));
      return candidates.map(() => Math.min(1, Math.max(0, 0.5 + 0.1 * normal(random))));
    };
  }
  const ids = shuffle([...ratesOf(requests).keys()].sort(), seededRandom(seed + 1_000_000));
  const places = new Map(ids.map((id, place) => [id, place]));
  const last = Math.max(1, ids.length - 1);
  return ({ candidates }) => candidates.map(({ id }) => 0.67 - 0.34 * ((places.get(id) as number) / last));
}

/** Mean outcome of each candidate, over all requests that have it. */
export function ratesOf(requests: readonly RealRequest[]): ReadonlyMap<string, number> {
  const outcomes = new Map<string, number[]>();
  for (const { candidates } of requests) {
    for (const { id, outcome } of candidates) {
      const known = outcomes.get(id);
      if (known) known.push(outcome);
      else outcomes.set(id, [outcome]);
    }
  }
  return new Map([...outcomes].map(([id, values]) => [id, mean(values)]));
}

function keepCandidates(requests: readonly RealRequest[], keep: (rate: number) => boolean): readonly RealRequest[] {
  const rates = ratesOf(requests);
  return requests.map((request) => ({
    ...request,
    candidates: request.candidates.filter(({ id }) => keep(rates.get(id) as number)),
  }));
}
