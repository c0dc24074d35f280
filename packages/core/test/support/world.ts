import type { Engine } from "../../src/index.js";
import { type Random, seededRandom } from "./random.js";

const DIMS = 32;
/** Needs and memories near each, in a wide world and in one where all requests are of one kind. */
const WIDE = { needs: 30, perNeed: 4 } as const;
const NARROW = { needs: 1, perNeed: 40 } as const;
const FETCHED = 20;
const SHOWN = 3;

type Quality = "helpful" | "neutral" | "harmful";

interface Memory {
  readonly id: string;
  readonly need: number;
  readonly quality: Quality;
  readonly embedding: readonly number[];
}

interface Request {
  readonly need: number;
  readonly vector: readonly number[];
  readonly candidates: readonly { readonly id: string; readonly similarity: number }[];
}

export interface WorldOptions {
  readonly seed: number;
  /** Chance of each quality; the rest is neutral. @default 0.5 and 0.3 */
  readonly helpful?: number;
  readonly harmful?: number;
  /** Share of the outcomes that are reported inverted: at 0.5 they are coin tosses. @default 0 */
  readonly flipped?: number;
  /** Rewards of a failure and of a success. @default 0 and 1 */
  readonly scores?: readonly [failure: number, success: number];
  /** True if all requests are about one need of forty memories. @default false */
  readonly narrow?: boolean;
  /** True if runs vote on memories: most of the time, and wrongly now and then. @default false */
  readonly votes?: boolean;
  /**
   * Outcomes are claims of ten sources, of which the first `lying` say the opposite of what happened; a share of the runs is
   * verified as well, whatever was claimed. @default outcomes are verified, without claims
   */
  readonly claims?: { readonly lying: number; readonly verified: number };
}

const SOURCES = 10;

/**
 * A small world: thirty kinds of need, four memories near each (or one need for all), and a quality that similarity cannot see. A run succeeds more
 * often with a helpful memory of its need in view and less often with a harmful one.
 */
export class World {
  readonly #random: Random;
  readonly #options: WorldOptions;
  /** Directions, one per need. */
  readonly #needs: readonly (readonly number[])[];
  readonly #memories: readonly Memory[];
  readonly #byId: ReadonlyMap<string, Memory>;
  readonly #heldOut: readonly Request[];

  constructor(options: WorldOptions) {
    const { helpful = 0.5, harmful = 0.3 } = options;
    const random = seededRandom(options.seed);
    this.#random = random;
    this.#options = options;
    const { needs, perNeed } = options.narrow ? NARROW : WIDE;
    this.#needs = Array.from({ length: needs }, () => random.direction(DIMS));
    this.#memories = this.#needs.flatMap((need, n) =>
      Array.from({ length: perNeed }, (_, i): Memory => {
        const luck = random.next();
        const quality = luck < helpful ? "helpful" : luck < helpful + harmful ? "harmful" : "neutral";
        return { id: `need ${n}, memory ${i}`, need: n, quality, embedding: this.#near(need, 0.12) };
      }),
    );
    this.#byId = new Map(this.#memories.map((memory) => [memory.id, memory]));
    this.#heldOut = Array.from({ length: 400 }, (_, i) => this.#request(i % needs));
  }

  /** Lets an engine live through `runs` runs of this world. */
  async live(engine: Engine, runs: number): Promise<void> {
    const random = this.#random;
    const { flipped = 0, votes = false, claims, scores = [0, 1] } = this.#options;
    for (let run = 0; run < runs; run++) {
      const { need, ...request } = this.#request(random.below(this.#needs.length));
      const { episode, items } = await engine.rank({ ...request, topK: SHOWN });
      const shown = this.#find(items);
      const success = successOf(need, shown);
      const chance = success + flipped * (1 - 2 * success);
      const reward = random.next() < chance;
      if (claims) {
        const source = random.below(SOURCES);
        const claim = source < claims.lying ? !reward : reward;
        await engine.end(episode, { reward: claim, source: `source ${source}` });
        if (random.next() < claims.verified) await engine.report(episode, { reward, tier: "verified" });
        continue;
      }
      const said = votes ? this.#votes(need, shown) : {};
      await engine.end(episode, { reward: scores[reward ? 1 : 0], tier: "verified", ...said });
    }
  }

  /** Expected success over the held-out requests with the engine's order, and with the order of similarity. */
  async evaluate(engine: Engine): Promise<{ readonly learned: number; readonly similarity: number }> {
    let learned = 0;
    let similarity = 0;
    for (const { need, ...request } of this.#heldOut) {
      const { items } = await engine.rank({ ...request, topK: SHOWN, record: false });
      learned += successOf(need, this.#find(items));
      similarity += successOf(need, this.#find(request.candidates.slice(0, SHOWN)));
    }
    return { learned: learned / this.#heldOut.length, similarity: similarity / this.#heldOut.length };
  }

  #find(items: readonly { readonly id: string }[]): Memory[] {
    return items.map(({ id }) => this.#byId.get(id) as Memory);
  }

  #near(direction: readonly number[], noise: number): number[] {
    const moved = direction.map((value) => value + noise * this.#random.normal());
    const length = Math.hypot(...moved);
    return moved.map((value) => value / length);
  }

  #request(need: number): Request {
    const vector = this.#near(this.#needs[need] as readonly number[], 0.12);
    const candidates = this.#memories
      .map(({ id, embedding }) => {
        let similarity = 0;
        for (let d = 0; d < DIMS; d++) similarity += (embedding[d] as number) * (vector[d] as number);
        return { id, similarity };
      })
      .sort((a, b) => b.similarity - a.similarity)
      .slice(0, FETCHED);
    return { need, vector, candidates };
  }

  #votes(need: number, shown: readonly Memory[]): { helpful: string[]; harmful: string[] } {
    const random = this.#random;
    const helpful: string[] = [];
    const harmful: string[] = [];
    for (const { id, need: home, quality } of shown) {
      const mine = home === need;
      if (random.next() < (mine && quality === "helpful" ? 0.6 : 0.05)) helpful.push(id);
      else if (random.next() < (mine && quality === "harmful" ? 0.4 : 0.05)) harmful.push(id);
    }
    return { helpful, harmful };
  }
}

function successOf(need: number, shown: readonly Memory[]): number {
  const has = (quality: Quality): boolean => shown.some((memory) => memory.need === need && memory.quality === quality);
  return 0.4 + (has("helpful") ? 0.4 : 0) - (has("harmful") ? 0.3 : 0);
}
