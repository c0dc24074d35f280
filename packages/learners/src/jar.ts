import {
  centre,
  clamp,
  type Defined,
  type FieldRules,
  type Learner,
  observeSpread,
  oneOf,
  relativeSimilarities,
  resolveOptions,
  type ScoreRequest,
  type Scores,
  spreadScale,
  whole,
} from "@qavr/core/learner";
import { AdvantageTable, type AdvantageVector, advantageVectorCodec, keepAlong } from "./advantage-vector.js";
import {
  familiarity,
  freshness,
  gate,
  JAR,
  JAR_SETTINGS,
  type JarSetting,
  type JarSettingNumbers,
  type JarShared,
  learn,
  refit,
  scalarUtility,
  shaped,
  sharedCodec,
  unlearn,
} from "./jar-model.js";

/** More would make each commit too slow. */
const MOST_REVISITS = 100;

export interface JarOptions {
  /** From most gain to most safety on new kinds of request. Each keeps its own state. @default "balanced" */
  readonly setting?: JarSetting | undefined;
  /** Old runs fitted again after each new one, 0 to 100: more fit better and write more states (about five each). @default 20 */
  readonly revisits?: number | undefined;
}

const JAR_DEFAULTS: Defined<JarOptions> = { setting: "balanced", revisits: JAR.revisits };
const JAR_RULES: FieldRules<JarOptions> = {
  setting: oneOf(...Object.keys(JAR_SETTINGS)),
  revisits: whole(0, MOST_REVISITS),
};

/**
 * **Joint advantage replay**, `jar@1`.
 *
 * An additive logistic model of a run: its logit of success is the sum of a baseline for the kind of request and of the effect of
 * each memory shown on such requests. Every run has one number, its residual; a memory's vector sums the residuals of its runs along
 * their requests. Some old runs are fitted again after each new one, so that the memories of a run share credit and blame jointly.
 * No learning rate, no random numbers.
 *
 * - **Score**: {@link score}. **Learning**: {@link learn}, {@link refit}. **Parameters**: {@link JAR}.
 * - **Settings**: `balanced` gains most; `guard` reduces learned shifts for unfamiliar requests; `strict` does so more, and
 *   protects untried memories for longer.
 * - **State**: 1 KiB + 16 bytes per memory with evidence (256 dims), 2 KiB per collection (34 KiB with `guard` and `strict`), and
 *   one short state per remembered run.
 * - **Order**: not order-independent; equal ledgers give equal bytes.
 * - **Wrong choice** when writes are expensive: each revisited run writes its episode and some five memories again.
 */
export function jar(options: JarOptions = {}): Learner<JarShared, AdvantageVector, AdvantageTable> {
  const { setting, revisits } = resolveOptions("jar", options, JAR_DEFAULTS, JAR_RULES);
  const numbers = JAR_SETTINGS[setting];
  return {
    id: setting === "balanced" ? "jar@1" : `jar@1/${setting}`,
    shared: sharedCodec,
    memory: advantageVectorCodec,
    createTable: () => new AdvantageTable(),
    score: (request) => score(request, numbers),
    observe: observeSpread,
    learn: (lesson) => learn(lesson, numbers),
    revisits: { log: JAR.log, count: revisits, fit: refit },
    unlearn,
    discount: keepAlong,
    describe: (memory) => ({ utility: scalarUtility(memory.advantage, memory.evidence), evidence: memory.evidence }),
    summarize: (shared) => ({
      lessons: shared.lessons,
      gate: gate(shared),
      spread: shared.spread,
      dims: shared.mean.length,
    }),
  };
}

const FIRST = sharedCodec.empty();

/**
 * Similarity plus the model's logit of each memory for this request, gated, bounded and scaled by the collection's spread (σ' is its
 * ratio to the reference spread), plus the bonus of memories with little evidence.
 *
 *     y_m = clamp(2.2 · gate · F · shaped(v · z), −1, +0.5)
 *     score_m = s_m + σ' (y_m + gate · freshness_m)
 *
 * The scalar advantage `1.5 a / (n + 5)` replaces `shaped(v · z)` when request and memory share no vector space.
 */
function score(request: ScoreRequest<JarShared, AdvantageTable>, setting: JarSettingNumbers): Scores {
  const { shared, table, rows, similarities, vector, topK } = request;
  const count = similarities.length;
  const scores = new Float64Array(count);
  const utilities = new Float64Array(count);
  const evidence = new Float64Array(count);
  const open = gate(shared ?? FIRST);
  const scale = spreadScale(shared, similarities);
  const z = vector && centre(shared, vector);
  const known =
    shared && z && setting.familiarity ? familiarity(shared, z, best(similarities), setting.familiarity) : 1;
  const products = z && table.dots(rows, z);
  const relative = relativeSimilarities(similarities, topK);
  let unchanged = true;
  for (let i = 0; i < count; i++) {
    const row = rows[i] as number;
    let n = 0;
    let learned = 0;
    if (row >= 0) {
      unchanged = open === 0 && unchanged;
      n = table.evidence[row] as number;
      const logit = products ? (products[i] as number) : Number.NaN;
      const directed = !Number.isNaN(logit);
      const utility = directed ? logit : scalarUtility(table.advantage[row] as number, n);
      const shift = directed ? JAR.weight * shaped(logit, table.norm[row] as number) : JAR.scalarWeight * utility;
      utilities[i] = utility;
      evidence[i] = n;
      learned = clamp(open * known * shift, -JAR.penaltyCap, JAR.boostCap);
    }
    learned += open * freshness(relative[i] as number, n, setting);
    scores[i] = (similarities[i] as number) + scale * learned;
  }
  return { score: scores, utility: utilities, evidence, gate: open, unchanged };
}

function best(similarities: Float64Array): number {
  return similarities.reduce((top, similarity) => Math.max(top, similarity), Number.NEGATIVE_INFINITY);
}
