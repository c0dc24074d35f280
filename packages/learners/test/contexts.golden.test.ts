import type { Learner } from "@qavr/core";
import { exportState } from "@qavr/core/maintenance";
import { describe, expect, it } from "vitest";
import {
  expectAgreement,
  plus,
  type ReferenceModel,
  ReferenceSpread,
  type Retrieval,
  sigmoid,
} from "../../core/test/support/reference-model.js";
import { average, coarse, dot, type Run, unit } from "../../core/test/support/stream.js";
import { oneRun, testEngine } from "../../core/test/support/test-engine.js";
import { contexts } from "../src/contexts.js";
import type { ContextsMemory, ContextsShared } from "../src/contexts-state.js";

interface Effect {
  logit: number;
  evidence: number;
}

/** Kinds of request clustered online, and one logistic model over them, in float64. */
class Reference implements ReferenceModel {
  readonly #spread = new ReferenceSpread();
  readonly #contexts: { centre: number[]; requests: number; logit: number }[] = [];
  readonly #memories = new Map<string, { all: Effect; by: Map<number, Effect> }>();
  readonly #most: number;
  #bias = 0;

  constructor(most: number) {
    this.#most = most;
  }

  #belongs(q: readonly number[]): Map<number, number> {
    const near = this.#contexts
      .map(({ centre }, c) => [c, dot(centre, q)] as const)
      .filter(([, cosine]) => cosine > 0)
      .sort((a, b) => b[1] - a[1])
      .slice(0, 3)
      .map(([c, cosine]) => [c, cosine ** 4] as const);
    const total = near.reduce((sum, [, share]) => sum + share, 0);
    return new Map(near.map(([c, share]) => [c, share / total]));
  }

  #logit(id: string, belongs: ReadonlyMap<number, number>): number {
    const memory = this.#memories.get(id);
    if (!memory) return 0;
    return [...belongs].reduce((sum, [c, phi]) => sum + phi * (memory.by.get(c)?.logit ?? 0), 0.3 * memory.all.logit);
  }

  score(retrieval: Retrieval): Map<string, number> {
    const belongs = this.#belongs(coarse(retrieval.request));
    const scale = this.#spread.scale(retrieval);
    return new Map(
      retrieval.candidates.map(({ id, similarity }) => [id, similarity + scale * this.#logit(id, belongs)]),
    );
  }

  learn(run: Run, credited: readonly (readonly string[])[]): void {
    const { exposures, reward, weight } = run;
    const share = 1 / exposures.length;
    this.#spread.observe(run);
    const requests = exposures.map(({ request }) => coarse(request));
    for (const q of requests) {
      const cosines = this.#contexts.map(({ centre }) => dot(centre, q));
      const best = Math.max(...cosines);
      const joined = this.#contexts[cosines.indexOf(best)];
      if (!joined || (best < 0.5 && this.#contexts.length < this.#most)) {
        this.#contexts.push({ centre: q, requests: 1, logit: 0 });
        continue;
      }
      joined.requests += 1;
      joined.centre = unit(plus(joined.centre, 1 / Math.min(joined.requests, 200), plus(q, -1, joined.centre)));
    }
    const belongs = requests.map((q) => this.#belongs(q));
    const drawn = (logit: number, prior: number, evidence: number): number =>
      logit * (1 - (0.5 * prior) / Math.max(1, evidence));
    belongs.forEach((contextsOf, e) => {
      for (const [c, phi] of contextsOf) {
        const context = this.#contexts[c] as { requests: number; logit: number };
        context.logit = drawn(context.logit, 0.02 * phi * share, context.requests);
      }
      for (const id of credited[e] as readonly string[]) {
        const memory = this.#memories.get(id) ?? { all: { logit: 0, evidence: 0 }, by: new Map<number, Effect>() };
        this.#memories.set(id, memory);
        memory.all.logit = drawn(memory.all.logit, 0.3, memory.all.evidence);
        for (const [c, phi] of contextsOf) {
          const effect = memory.by.get(c) ?? { logit: 0, evidence: 0 };
          memory.by.set(c, effect);
          effect.logit = drawn(effect.logit, 0.3 * phi, effect.evidence);
        }
      }
    });
    const logit = average(
      belongs.map((contextsOf, e) => {
        const own = [...contextsOf].reduce(
          (sum, [c, phi]) => sum + phi * (this.#contexts[c]?.logit as number),
          this.#bias,
        );
        return (credited[e] as readonly string[]).reduce((sum, id) => sum + this.#logit(id, contextsOf), own);
      }),
    );
    const step = 0.5 * weight * (reward - sigmoid(logit));
    this.#bias += 0.1 * step;
    belongs.forEach((contextsOf, e) => {
      for (const [c, phi] of contextsOf) (this.#contexts[c] as { logit: number }).logit += phi * step * share;
      for (const id of credited[e] as readonly string[]) {
        const { all, by } = this.#memories.get(id) as { all: Effect; by: Map<number, Effect> };
        all.logit += 0.3 * step;
        all.evidence += weight;
        for (const [c, phi] of contextsOf) {
          const effect = by.get(c) as Effect;
          effect.logit += phi * step;
          effect.evidence += phi * weight;
        }
      }
    });
  }
}

describe("contexts@1", () => {
  it.each([192, 3])("scores with up to %i contexts as an independent float64 implementation does", async (most) => {
    await expectAgreement(contexts({ contexts: most }), new Reference(most));
  });

  it("writes equal effects as equal bytes, whichever was learned first", () => {
    const effects = [0, 1, 2].map((context) => [context, { logit: context, evidence: 1 }] as const);
    const bytes = (list: typeof effects): Uint8Array =>
      contexts().memory.encode({ logit: 0, evidence: 1, effects: new Map(list) }, 0);
    expect(bytes(effects.toReversed())).toEqual(bytes(effects));
  });

  it("knows nothing of a kind of request any more when the only outcome there is taken back", () => {
    const learner = contexts();
    const shared = learner.shared.empty();
    const memory = learner.memory.empty();
    const lesson = (vector: Float32Array): Parameters<typeof learner.learn>[0] => ({
      exposures: [
        {
          shared,
          vector,
          context: "default",
          share: 1,
          voted: false,
          shown: [{ id: "m", memory, similarity: 1, weight: 1, vote: 0, used: undefined }],
        },
      ],
      reward: 1,
      weight: 1,
      at: 0,
      first: true,
    });
    learner.learn(lesson(Float32Array.of(1, 0)));
    const north = lesson(Float32Array.of(0, 1));
    const contribution = learner.learn(north);
    expect([...memory.effects.keys()]).toEqual([0, 1]);
    learner.unlearn(north, contribution);
    expect([...memory.effects.keys()]).toEqual([0]);
    expect(memory.evidence).toBe(1);
  });

  it("finds kinds of request on the way and learns apart what a memory is worth for each", async () => {
    const { engine } = testEngine({ learner: contexts() as unknown as Learner });
    const candidates = [{ id: "a", similarity: 1 }];
    for (let i = 0; i < 20; i++) {
      for (const [vector, reward] of [
        [[1, 0.1], 1],
        [[0, 1], 0],
      ] as const) {
        await oneRun(engine, { candidates, topK: 1, vector }, { reward, tier: "verified" });
      }
    }
    const { shared, memories } = (await exportState(engine)) as unknown as {
      shared: ContextsShared;
      memories: { state: ContextsMemory }[];
    };
    expect(shared.contexts.map(({ requests }) => requests)).toEqual([20, 20]);
    const { effects, logit } = (memories[0] as { state: ContextsMemory }).state;
    expect(effects.get(0)?.logit).toBeGreaterThan(0.5);
    expect(effects.get(1)?.logit).toBeLessThan(-0.5);
    expect(Math.abs(logit)).toBeLessThan(0.3);
    expect(await engine.status()).toMatchObject({ collections: [{ learner: { contexts: 2, dims: 2 } }] });
  });
});
