import {
  type Candidate,
  createEngine,
  type Engine,
  type EngineOptions,
  memoryStore,
  type RankRequest,
} from "@qavr/core";
import { governance } from "@qavr/core/governance";
import { normal, type Random, seededRandom } from "@qavr/lab";

const DAY = 86_400_000;
const START = 1_767_225_600_000;
const DIMS = 32;
/** Kinds of request. The first one is attacked. */
const NEEDS = 12;
const ATTACKED = 0;
const FETCHED = 20;
const SHOWN = 3;
/** Noise of a request or memory around its need's direction, per dimension. */
const NOISE = 0.12;
const HONEST_SOURCES = 10;
/** Share of honest runs that are verified, whatever was claimed. */
const VERIFIED = 0.07;
/** Honest runs are spread over so many days. */
const DAYS = 60;
/** Requests that a rank is averaged over. */
const PROBES = 10;

/** Memories near each need, and how much the success of a run of that need gains when one is shown. */
const WORTH = { best: 0.35, target: -0.25, plain: 0, other: -0.1 } as const;
const BASE = 0.5;

/** The memory that helps most with the attacked kind of request, and the one that an attacker wants to see. */
export const BEST: string = `${ATTACKED} best`;
export const TARGET: string = `${ATTACKED} target`;

/** A defence against attackers. */
export interface Layer {
  readonly name: string;
  readonly options: Pick<EngineOptions, "governance">;
  /** True when unverified memories are marked: the attacker's target, and planted ones. */
  readonly marks: boolean;
}

const caps = { weight: 3, window: DAY };

export const LAYERS: readonly Layer[] = [
  { name: "nothing", options: {}, marks: false },
  { name: "caps", options: { governance: governance({ sourceCaps: caps }) }, marks: false },
  { name: "trust", options: { governance: governance({ trust: "audited" }) }, marks: false },
  { name: "marks", options: {}, marks: true },
  { name: "all three", options: { governance: governance({ trust: "audited", sourceCaps: caps }) }, marks: true },
];

/** How a memory stands among the candidates of the attacked kind of request. */
export interface Rank {
  /** Mean effect of learning over requests, in standard deviations of the similarities. */
  readonly lift: number;
  /** Share of requests for which it stands above the best memory. */
  readonly aboveBest: number;
  /** Mean place, 1-based. */
  readonly place: number;
}

type Direction = readonly number[];
type Asked = Required<Pick<RankRequest, "vector" | "candidates">>;

/** A memory that an attacker has planted: as similar as the best one, less `behind`. */
export interface Planted {
  readonly id: string;
  readonly behind: number;
}

/** An application with honest users, before, during and after an attack. */
export class AttackedWorld {
  readonly engine: Engine;
  readonly clock: { now: number } = { now: START };
  readonly #layer: Layer;
  readonly #random: Random;
  readonly #needs: readonly Direction[];
  readonly #memories: readonly { readonly id: string; readonly embedding: Direction }[];
  readonly #planted: readonly Planted[];
  /** The same ones before and after an attack. */
  readonly #probes: readonly Asked[];

  constructor(layer: Layer, seed: number, planted: readonly Planted[] = []) {
    this.#layer = layer;
    this.#random = seededRandom(seed);
    this.#planted = planted;
    // Always the learned order: runs in the host's give an attacker less to win.
    this.engine = createEngine({ store: memoryStore(), holdout: 0, clock: () => this.clock.now, ...layer.options });
    const nowhere = new Array<number>(DIMS).fill(0);
    this.#needs = Array.from({ length: NEEDS }, () => this.#near(nowhere, 1));
    this.#memories = this.#needs.flatMap((need, n) =>
      Object.keys(WORTH).map((name) => ({ id: `${n} ${name}`, embedding: this.#near(need) })),
    );
    this.#probes = Array.from({ length: PROBES }, () => this.attackedRequest());
  }

  /** Lets honest users live through `runs` runs. What was planted is not there yet. */
  async live(runs: number): Promise<void> {
    for (let run = 0; run < runs; run++) {
      this.clock.now += (DAYS * DAY) / runs;
      const need = Math.floor(this.#random() * NEEDS);
      const { episode, items } = await this.engine.rank({ ...this.#request(need), topK: SHOWN });
      const gain = (Object.keys(WORTH) as (keyof typeof WORTH)[])
        .filter((name) => items.some(({ id }) => id === `${need} ${name}`))
        .reduce((sum, name) => sum + WORTH[name], 0);
      const reward = this.#random() < BASE + gain;
      const source = `user ${Math.floor(this.#random() * HONEST_SOURCES)}`;
      await this.engine.end(episode, { reward, source });
      if (this.#random() < VERIFIED) await this.engine.report(episode, { reward, tier: "verified", source: "checker" });
    }
  }

  /** A request of the attacked kind, with what was planted among its candidates. */
  attackedRequest(): Asked {
    const { vector, candidates } = this.#request(ATTACKED);
    const best = candidates.find(({ id }) => id === BEST)?.similarity ?? 0;
    const planted = this.#planted.map(({ id, behind }) => this.#mark({ id, similarity: best - behind }, true));
    return { vector, candidates: bestFirst([...candidates, ...planted]) };
  }

  /**
   * Shows one memory alone, in a run that an attacker has made up, and returns the episode.
   *
   * @param collection another one than that of the honest runs holds none of their memories
   */
  async show(id: string, collection?: string): Promise<string> {
    this.clock.now += 1_000;
    const { candidates, vector } = this.attackedRequest();
    const alone = candidates.filter((candidate) => candidate.id === id);
    const place = collection === undefined ? {} : { collection };
    return (await this.engine.rank({ candidates: alone, vector, topK: 1, ...place })).episode;
  }

  async rank(id: string): Promise<Rank> {
    let [lift, aboveBest, place] = [0, 0, 0];
    for (const { candidates, vector } of this.#probes) {
      const { items } = await this.engine.rank({ candidates, vector, topK: candidates.length, record: false });
      const placeOf = (name: string): number => items.findIndex((item) => item.id === name);
      const { score = 0, similarity = 0 } = items[placeOf(id)] ?? {};
      lift += (score - similarity) / sigma(candidates) / PROBES;
      if (placeOf(id) < placeOf(BEST)) aboveBest += 1 / PROBES;
      place += (placeOf(id) + 1) / PROBES;
    }
    return { lift, aboveBest, place };
  }

  #request(need: number): Asked {
    const vector = this.#near(this.#needs[need] as Direction);
    const candidates = this.#memories.map(({ id, embedding }) =>
      this.#mark(
        { id, similarity: embedding.reduce((sum, value, d) => sum + value * (vector[d] as number), 0) },
        id === TARGET,
      ),
    );
    const found = bestFirst(candidates).slice(0, FETCHED);
    // A host that does not find them gives an attacker nothing to do.
    const missing = candidates.filter((one) => [BEST, TARGET].includes(one.id) && !found.includes(one));
    return { vector, candidates: need === ATTACKED ? bestFirst([...found, ...missing]) : found };
  }

  #mark(candidate: Candidate, isSuspect: boolean): Candidate {
    return this.#layer.marks && isSuspect ? { ...candidate, unverified: true } : candidate;
  }

  #near(direction: Direction, noise: number = NOISE): Direction {
    const moved = direction.map((value) => value + noise * normal(this.#random));
    const length = Math.hypot(...moved);
    return moved.map((value) => value / length);
  }
}

function bestFirst(candidates: readonly Candidate[]): Candidate[] {
  return candidates.toSorted((a, b) => b.similarity - a.similarity);
}

function sigma(candidates: readonly Candidate[]): number {
  const mean = candidates.reduce((sum, { similarity }) => sum + similarity, 0) / candidates.length;
  return Math.sqrt(candidates.reduce((sum, { similarity }) => sum + (similarity - mean) ** 2, 0) / candidates.length);
}
