import { z } from "zod";

/** Form of what each command prints with `--json`. docs/reference/cli.schema.json is made from it. */

const share = z.number().min(0).max(1);
const ms = z.number();
const tier = z.enum(["verified", "user", "observed", "self-reported", "completed"]);
const interval = z.strictObject({ low: share, high: share });
const named = { id: z.string(), label: z.string().optional() };

const exposureItem = z.strictObject({
  ...named,
  rank: z.int(),
  hostRank: z.int(),
  handle: z.string(),
  similarity: z.number(),
  learned: z.number(),
  bonus: z.number(),
  overlap: z.number(),
  unverified: z.number(),
  score: z.number(),
  utility: z.number(),
  evidence: z.number(),
});
const notShown = z.strictObject({
  ...named,
  rank: z.int(),
  hostRank: z.int(),
  similarity: z.number(),
  shift: z.number(),
  score: z.number(),
  reason: z.enum(["outranked", "dropped", "held-out", "order-kept", "memory-off"]),
});
const outcome = z.strictObject({
  reward: share.nullable(),
  tier,
  source: z.string(),
  trust: share.optional(),
  note: z.string().optional(),
});
const runState = z.enum(["open", "suspended", "ended", "abandoned"]);
const run = z.strictObject({
  episode: z.string(),
  namespace: z.string(),
  state: runState,
  exposures: z.array(
    z.strictObject({
      at: ms,
      collection: z.string(),
      context: z.string(),
      learner: z.string(),
      gate: share,
      scale: z.number().optional(),
      vectorSource: z.enum(["host", "hashed", "none"]),
      credited: z.boolean(),
      order: z.enum(["host", "learned"]),
      heldOut: z.literal(true).optional(),
      memoryOff: z.literal(true).optional(),
      items: z.array(exposureItem),
      notShown: z.array(notShown),
    }),
  ),
  compacted: z.literal(true).optional(),
  used: z.array(z.strictObject({ id: z.string(), by: z.string() })).optional(),
  votes: z
    .array(z.strictObject({ id: z.string(), vote: z.enum(["helpful", "harmful"]), tier, source: z.string() }))
    .optional(),
  outcome: outcome.optional(),
});
const memory = z.strictObject({
  ...named,
  collection: z.string(),
  shown: z.int(),
  lastShown: ms.optional(),
  used: z.int(),
  successes: z.int(),
  failures: z.int(),
  helpful: z.int(),
  harmful: z.int(),
  wins: z.int(),
  losses: z.int(),
  utility: z.number(),
  evidence: z.number(),
  contentHash: z.int().optional(),
  success: z.strictObject({ share, low: share, high: share }).optional(),
});
const extreme = z.strictObject({ ...named, collection: z.string(), utility: z.number(), evidence: z.number() });
const difference = z.union([
  z.literal("not enough"),
  z.strictObject({ difference: z.number(), low: z.number(), high: z.number() }),
]);
const lift = z.strictObject({
  episodes: z.strictObject({ learned: z.int(), holdout: z.int(), needed: z.int() }),
  success: z.strictObject({ learned: share, holdout: share }).optional(),
  lift: difference,
});
const memoryLift = z.strictObject({
  episodes: z.strictObject({ shown: z.int(), off: z.int(), needed: z.int() }),
  success: z.strictObject({ shown: share, off: share }).optional(),
  lift: difference,
});
const status = z.strictObject({
  store: z.string(),
  namespace: z.string(),
  otherNamespaces: z.array(z.string()),
  learner: z.string(),
  state: z.strictObject({ level: z.enum(["empty", "unjudged", "cold", "learning", "harming"]), sentence: z.string() }),
  runs: z.strictObject({
    recorded: z.int(),
    suspended: z.int(),
    abandoned: z.int(),
    taught: z.int(),
    coverage: share.optional(),
  }),
  outcomes: z.record(tier, z.int()),
  lift: lift.optional(),
  memoryLift: memoryLift.optional(),
  curve: z.strictObject({
    points: z.array(
      z.strictObject({
        runs: z.int(),
        from: ms,
        to: ms,
        success: share,
        interval: interval.optional(),
        heldOut: z.strictObject({ runs: z.int(), success: share }).optional(),
      }),
    ),
    judged: z.boolean(),
    events: z.array(z.strictObject({ at: ms, what: z.string() })),
    sampled: z.boolean(),
  }),
  reporters: z.array(z.strictObject({ source: z.string(), tier, outcomes: z.int(), success: share })),
  contexts: z.array(
    z.strictObject({ context: z.string(), episodes: z.int(), taught: z.int(), state: z.enum(["cold", "warm"]) }),
  ),
  memories: z.strictObject({ known: z.int(), withEvidence: z.int() }).optional(),
  best: z.array(extreme),
  worst: z.array(extreme),
  sources: z.array(z.looseObject({ source: z.string(), flags: z.array(z.string()) })),
});
const verify = z.strictObject({
  ok: z.boolean(),
  namespaces: z.int(),
  entries: z.int(),
  digest: z.string().optional(),
  damaged: z.int(),
  damage: z.array(z.strictObject({ namespace: z.string().optional(), seq: z.int().optional(), problem: z.string() })),
  differing: z.array(z.strictObject({ namespace: z.string(), states: z.array(z.string()) })),
  unchecked: z.array(z.strictObject({ namespace: z.string(), reason: z.string() })),
});
const copied = z.strictObject({
  path: z.string(),
  namespaces: z.int(),
  entries: z.int(),
  digest: z.string(),
  damaged: z.int(),
  damage: verify.shape.damage,
});

/** `data` by command. */
const DATA: Readonly<Record<string, z.ZodType>> = {
  status,
  why: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("run"), namespace: z.string(), run }),
    z.strictObject({
      kind: z.literal("memory"),
      namespace: z.string(),
      memory,
      appearances: z.array(
        z.strictObject({
          episode: z.string(),
          at: ms,
          heldOut: z.boolean(),
          places: z.int(),
          shown: exposureItem.optional(),
          notShown: notShown.optional(),
          lastScore: z.number().optional(),
        }),
      ),
      history: z.array(
        z.strictObject({
          episode: z.string(),
          at: ms,
          reward: z.number(),
          runs: z.int(),
          success: z.strictObject({ share, low: share, high: share }),
        }),
      ),
    }),
  ]),
  memories: z.strictObject({
    namespace: z.string(),
    order: z.enum(["worst", "best", "shown", "unsure"]),
    rows: z.array(memory),
    of: z.int(),
    sample: z.int().optional(),
    unread: z.int().optional(),
    next: z.string().optional(),
  }),
  runs: z.strictObject({
    namespace: z.string(),
    runs: z.array(
      z.strictObject({
        episode: z.string(),
        at: ms,
        state: runState,
        order: z.enum(["host", "learned"]),
        heldOut: z.boolean(),
        shown: z.int(),
        compacted: z.literal(true).optional(),
        first: z.strictObject({ ...named, collection: z.string() }).optional(),
        outcome: outcome.optional(),
      }),
    ),
    next: z.int().optional(),
  }),
  eval: z.strictObject({
    namespace: z.string(),
    learner: z.string(),
    checkpoint: z.int(),
    entries: z.int(),
    episodes: z.int(),
    exposures: z.int(),
    agreement: z.strictObject({ sameSet: share, overlap: share }).optional(),
    estimate: z.union([
      z.strictObject({ refused: z.string(), effectiveSampleSize: z.number() }),
      z.strictObject({
        success: z.number(),
        served: z.number(),
        difference: z.number(),
        low: z.number(),
        high: z.number(),
        effectiveSampleSize: z.number(),
        coverage: share,
      }),
    ]),
  }),
  revoke: z.strictObject({
    namespace: z.string(),
    checkpoint: z.int(),
    outcomes: z.int(),
    episodes: z.int(),
    memories: z.int(),
    seq: z.int(),
    dryRun: z.boolean(),
  }),
  doctor: z.strictObject({
    store: z.string().optional(),
    namespace: z.string().optional(),
    findings: z.array(z.strictObject({ id: z.string(), finding: z.string(), fix: z.string() })),
    fixed: z.array(z.string()),
    runs: z.int(),
    entries: z.int(),
    verified: z.boolean(),
  }),
  demo: status,
  "notes add": z.strictObject({ id: z.string() }),
  "notes search": z.strictObject({
    notes: z.array(z.strictObject({ id: z.string(), text: z.string(), similarity: share })),
  }),
  "notes prune": z.strictObject({
    namespace: z.string(),
    collection: z.string(),
    memories: z.int(),
    archived: z.array(z.looseObject({ id: z.string(), score: z.number() })),
    at: ms,
    dryRun: z.boolean(),
  }),
  dashboard: z.strictObject({ url: z.string(), store: z.string() }),
  "ledger verify": verify,
  "ledger repair": z.strictObject({ rebuilt: z.array(z.string()), after: verify }),
  "ledger compact": z.strictObject({
    namespace: z.string(),
    checkpoint: z.int(),
    dropped: z.int(),
    entries: z.int(),
    episodes: z.int(),
  }),
  "ledger backup": copied,
  "ledger restore": copied,
  "ledger move": z.strictObject({
    namespaces: z.int(),
    entries: z.int(),
    digest: z.string().optional(),
    from: z.string(),
    to: z.string(),
  }),
  "ledger shards": z.strictObject({ shards: z.int() }),
  "ledger export": z.strictObject({
    schema: z.literal(1),
    learner: z.string(),
    collection: z.string(),
    shared: z.string().optional(),
    memories: z.array(z.strictObject({ id: z.string(), state: z.string() })),
  }),
  "ledger import": z.strictObject({
    namespace: z.string(),
    collection: z.string(),
    learner: z.string(),
    memories: z.int(),
  }),
};

const schema = z.literal(1);
const error = z.strictObject({ code: z.string(), message: z.string() });

/** Everything that `--json` prints. */
export const PRINTED: z.ZodType = z.union([
  z.strictObject({ schema, command: z.string(), error }),
  ...Object.entries(DATA).map(([command, data]) => z.strictObject({ schema, command: z.literal(command), data })),
]);

/** The same as JSON Schema. */
export function jsonSchema(): string {
  return `${JSON.stringify(z.toJSONSchema(PRINTED, { reused: "ref" }), undefined, 2)}\n`;
}
