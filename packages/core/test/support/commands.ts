import fc from "fast-check";
import { type Engine, OUTCOME_TIERS, type OutcomeInput, QavrError } from "../../src/index.js";
import { forget, revoke } from "../../src/maintenance/index.js";
import { seededRandom } from "./random.js";

/** One call on an engine, drawn at random. Numbers pick among what exists at that moment, so that most calls are legal. */
export type Command =
  | {
      readonly kind: "rank";
      readonly seed: number;
      readonly pick: number;
      readonly fresh: boolean;
      readonly alias: string;
      readonly collection: string;
    }
  | {
      readonly kind: "end";
      readonly pick: number;
      readonly outcome: OutcomeInput | undefined;
      readonly uncredited: readonly number[];
    }
  | { readonly kind: "report"; readonly pick: number; readonly byAlias: boolean; readonly outcome: OutcomeInput }
  | { readonly kind: "suspend"; readonly pick: number; readonly alias: string }
  | { readonly kind: "resume"; readonly alias: string }
  | { readonly kind: "narrow"; readonly pick: number; readonly keep: number }
  | { readonly kind: "forget"; readonly memory: number; readonly collection: string }
  | { readonly kind: "revoke"; readonly source: string; readonly fromSeq: number }
  | { readonly kind: "edit" };

const ALIASES = ["a", "ab", "\uFEFFa", "__proto__", "%"];
export const COLLECTIONS: readonly string[] = ["default", "a:b"];
const CONTEXTS = ["default", "deploy", "__proto__"];
const MEMORIES = 8;

const alias = fc.constantFrom(...ALIASES);
const thread = fc.constantFrom("thread", "\uFEFFthread");
const collection = fc.constantFrom(...COLLECTIONS);
const handles: fc.Arbitrary<string[]> = fc.constantFrom([], [], [], ["m1"], ["m2"], ["m1", "m2"]);

const verdict = {
  reward: fc.oneof(fc.constantFrom(true, false, null), fc.double({ min: 0, max: 1, noNaN: true })),
  tier: fc.constantFrom(...OUTCOME_TIERS),
  weight: fc.constantFrom(0.1, 1),
};
const outcome: fc.Arbitrary<OutcomeInput> = fc.oneof(
  { weight: 3, arbitrary: fc.record(verdict) },
  {
    weight: 3,
    arbitrary: fc
      .record({ ...verdict, helpful: handles, harmful: handles, neutral: handles, used: handles })
      .map((said) => ({
        ...said,
        neutral: said.neutral.filter((name) => ![...said.helpful, ...said.harmful].includes(name)),
      }))
      .filter(({ helpful, harmful }) => !helpful.some((handle) => harmful.includes(handle))),
  },
  { weight: 1, arbitrary: fc.record({ ...verdict, idempotencyKey: fc.nat(30).map((key) => `key ${key}`) }) },
);

export const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("rank" as const),
      seed: fc.nat(1_000),
      pick: fc.nat(9),
      fresh: fc.boolean(),
      alias,
      collection,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("end" as const),
      pick: fc.nat(9),
      outcome: fc.option(outcome, { nil: undefined }),
      uncredited: fc.constantFrom([], [], [0], [1]),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("report" as const), pick: fc.nat(9), byAlias: fc.boolean(), outcome }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("suspend" as const), pick: fc.nat(9), alias: thread }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("resume" as const), alias: thread }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("narrow" as const), pick: fc.nat(9), keep: fc.nat(MEMORIES) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("forget" as const), memory: fc.nat(MEMORIES - 1), collection }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("revoke" as const),
      source: fc.constantFrom(...OUTCOME_TIERS),
      fromSeq: fc.integer({ min: 1, max: 40 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("edit" as const) }) },
);

/** State of a sequence of commands between calls, for one namespace. */
export interface Session {
  readonly namespace: string;
  readonly open: string[];
  readonly seen: string[];
  revision: number;
}

export function newSession(namespace: string): Session {
  return { namespace, open: [], seen: [], revision: 0 };
}

/** Refusals that a random sequence may earn. Any other failure is a fault. */
const LEGAL_REFUSALS = ["UNKNOWN_EPISODE", "NOT_SHOWN", "IDEMPOTENCY_CONFLICT", "INVALID_ARGUMENT"];

/** Runs one command and says what came of it. */
export async function run(engine: Engine, session: Session, step: Command): Promise<unknown> {
  try {
    return await call(engine, session, step);
  } catch (error) {
    if (QavrError.isInstance(error) && LEGAL_REFUSALS.includes(error.code)) return error.code;
    throw error;
  }
}

async function call(engine: Engine, session: Session, step: Command): Promise<unknown> {
  const { namespace, open, seen } = session;
  const opened = "pick" in step ? open[step.pick % Math.max(1, open.length)] : undefined;
  const close = (episode: string): void => {
    open.splice(open.indexOf(episode), 1);
  };
  switch (step.kind) {
    case "rank": {
      const request = randomRequest(step.seed, session.revision);
      const { alias: name, collection: place } = step;
      const joined = step.fresh || opened === undefined ? {} : { episode: opened };
      const context = CONTEXTS[step.seed % CONTEXTS.length] as string;
      const where = { namespace, collection: place, context };
      const ranking = await engine.rank({ ...request, ...joined, ...where, aliases: [name] });
      if (!open.includes(ranking.episode)) open.push(ranking.episode);
      if (!seen.includes(ranking.episode)) seen.push(ranking.episode);
      return ranking;
    }
    case "end": {
      if (opened === undefined) return undefined;
      // Gone from here also when it is refused: then it stays open until its time is over.
      close(opened);
      return engine.end(opened, step.outcome, { namespace, uncredited: step.uncredited });
    }
    case "report": {
      const reference = step.byAlias
        ? (ALIASES[step.pick % ALIASES.length] as string)
        : seen[step.pick % Math.max(1, seen.length)];
      return reference === undefined ? undefined : engine.report(reference, step.outcome, { namespace });
    }
    case "suspend":
      if (opened === undefined) return undefined;
      close(opened);
      return engine.suspend(opened, { alias: step.alias });
    case "resume": {
      const episode = await engine.resume(step.alias, { namespace });
      if (episode !== undefined && !open.includes(episode)) open.push(episode);
      return episode;
    }
    case "narrow":
      if (opened !== undefined)
        engine.narrow(
          opened,
          step.keep % 2,
          Array.from({ length: step.keep }, (_, i) => `d${i}`),
        );
      return undefined;
    case "forget":
      return forget(engine, { namespace, collection: step.collection, ids: [`d${step.memory}`] });
    case "revoke":
      return revoke(engine, { namespace, source: step.source, fromSeq: step.fromSeq });
    case "edit":
      session.revision += 1;
      return undefined;
  }
}

/** Up to eight candidates, some twice, some with a text that edits change; a vector, a text, both or neither. */
export function randomRequest(
  seed: number,
  revision: number,
): {
  candidates: { id: string; similarity: number; text?: string }[];
  topK: number;
  vector?: number[];
  text?: string;
  keepOrder: boolean;
} {
  const random = seededRandom(seed);
  const candidates = Array.from({ length: random.below(MEMORIES + 1) }, () => {
    const memory = random.below(MEMORIES);
    const similarity = Math.round(random.next() * 20) / 20;
    return { id: `d${memory}`, similarity, ...(memory % 2 === 0 ? { text: `text ${revision}` } : {}) };
  });
  const kind = random.below(4);
  return {
    candidates,
    topK: random.below(5),
    ...(kind < 2 ? { vector: random.direction(6) } : {}),
    ...(kind > 0 && kind < 3 ? { text: `request ${random.below(5)}` } : {}),
    keepOrder: random.below(4) === 0,
  };
}
