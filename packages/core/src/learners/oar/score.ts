import { MAX_DIMS } from "../../embedding/request-vector.js";
import { sigmoid } from "../../scoring/bounds.js";
import { kept } from "../../scoring/half-life.js";
import { pooled } from "../../scoring/pooled.js";
import { relativeSimilarities } from "../../scoring/relative-similarity.js";
import type { ScoreRequest, Scores } from "../learner.js";
import { centre, expectedLogit } from "../request-model.js";
import { hasSpread, spreadScale } from "../running-spread.js";
import { beyondLevel, boost, contextShare, evidenceLeft, freshness, voteRate } from "./formulas.js";
import { gatesOf } from "./gates.js";
import { keepApart } from "./keep-apart.js";
import * as OAR from "./parameters.js";
import { type OarShared, sharedCodec } from "./state.js";
import { type OarTable, ROW } from "./table.js";
import { advantageOf, hostShareOf } from "./worth.js";

const FIRST = sharedCodec.empty();

/** Takes the direction of the request that is being scored: a new array takes as long as scoring four memories. */
const room = new Float32Array(MAX_DIMS);

/**
 * Similarity plus the model's logit of each memory for this request, gated, bounded and scaled by the collection's spread (σ' is its
 * ratio to the reference spread), plus the bonus of memories that are tried less than others.
 *
 *     y_m = v_m · z                              c_m = n_m / (n_m + 1),  u = evidenceLeft
 *     e = min(1, P₀ / 0.25)                      claim_m = 1 − e (1 − rel²)
 *     level_m = max(e, min(1, N / 60)) Σ rel² c y / (Σ rel² c + 0.2)    over the other candidates: what the request itself explains
 *     x_m = c_m · beyondLevel(y_m, level_m)      worth(x) = boost(x) or x · ∛u,  worth(ρ) = ρ or ρ · ∛u
 *     score = similarity + σ' (min(2.2 (R worth(ρ) + C worth(x)), 0.8) + G · freshness)
 *     score −= σ' G (1 − vote rate) overlap with the memories above it          when ρ + y ≤ 0
 *
 * R and C are the gates of reputations and contexts ({@link gatesOf}), G the greater one. A memory that shares no vector space with
 * the request has no context, and its reputation counts by G; it gets no bonus.
 *
 * A share of the episodes should show the host's order instead ({@link hostShareOf}). If that share is followed, closed gates count as
 * open, and most episodes show the host's order.
 */
export function score(request: ScoreRequest<OarShared, OarTable>, halfLife: number): Scores {
  const { table, rows, similarities, vector, topK, now, shared = FIRST } = request;
  const count = similarities.length;
  const column = (): Float64Array => pooled(count);
  const scores = column();
  const utilities = column();
  const evidence = column();
  /** u */
  const currents = column();
  const scale = spreadScale(shared, similarities);
  const isRanked = hasSpread(shared, similarities);
  const gates = gatesOf(shared, isRanked);
  const isTried = request.draws && gates.reputation + gates.context === 0;
  const trusted = isTried ? 1 : gates.reputation;
  const open = isTried ? 1 : gates.context;
  const gate = Math.max(trusted, open);
  const terms = { learned: column(), bonus: column(), overlap: column(), scale };
  const relative = relativeSimilarities(similarities, topK, column());
  const z = vector && centre(shared, vector, OAR.centring, room.subarray(0, vector.length));
  /** y, NaN for a memory that shares no vector space with the request. */
  const logits = z ? table.vectors.dots(rows, z, column()) : column().fill(Number.NaN);
  const base = expectedLogit(shared, z);
  const expected = sigmoid(base);
  /** e: 1 where the request is expected to succeed. */
  const hope = Math.min(1, expected / OAR.freeBelow);
  const votes = voteRate(shared);
  /** Of a row: at, evidence, reputation, lastRun, |v|. */
  const { numbers } = table;
  const unchanged = gate === 0 || rows.every((row) => row < 0);
  /** Σ rel² c y and Σ rel² c, and N, the greatest claim · u n. */
  let levelSum = 0;
  let levelWeight = 0;
  let most = 0;
  for (let i = 0; i < count; i++) {
    const row = rows[i] as number;
    if (row < 0) continue;
    const left = kept(now - (numbers[row * ROW] as number), halfLife);
    const n = left * (numbers[row * ROW + 1] as number);
    evidence[i] = n;
    currents[i] = evidenceLeft(n, numbers[row * ROW + 3] as number, shared.lessons);
    logits[i] = left * (logits[i] as number);
    const near = (relative[i] as number) ** 2;
    most = Math.max(most, (1 - hope * (1 - near)) * (currents[i] as number) * n);
    if (Number.isNaN(logits[i])) continue;
    const weight = near * contextShare(n);
    levelWeight += weight;
    levelSum += weight * (logits[i] as number);
  }
  const explained = Math.max(hope, Math.min(1, most / OAR.levelRuns));
  const need = OAR.needShare * (1 - Math.min(1, expected / OAR.needBelow)) * Math.sqrt(Math.min(most, OAR.needRuns));
  for (let i = 0; i < count; i++) {
    const row = rows[i] as number;
    const n = evidence[i] as number;
    const current = currents[i] as number;
    const seen = current * n;
    const near = (relative[i] as number) ** 2;
    const logit = logits[i] as number;
    const isDirected = !Number.isNaN(logit);
    let learned = 0;
    if (row >= 0) {
      const left = kept(now - (numbers[row * ROW] as number), halfLife);
      const reputation = left * (numbers[row * ROW + 2] as number);
      const fade = Math.cbrt(current);
      let shift = (isDirected ? trusted : gate) * (reputation > 0 ? reputation : fade * reputation);
      utilities[i] = reputation + (isDirected ? logit : 0);
      if (isDirected) {
        const share = contextShare(n);
        const own = near * share;
        const level = (levelSum - own * logit) / (levelWeight - own + OAR.levelPrior);
        const x = share * beyondLevel(logit, explained * level);
        shift += open * (x > 0 ? boost(x, left * (numbers[row * ROW + 4] as number)) : fade * x);
      }
      learned = Math.min(OAR.weight * shift, OAR.boostCap);
    }
    // Without a direction nothing is explored.
    const bonus =
      (row < 0 ? z : isDirected) && seen < most ? gate * freshness(1 - hope * (1 - near), seen, most, votes, need) : 0;
    scores[i] = (similarities[i] as number) + scale * (learned + bonus);
    terms.learned[i] = scale * learned;
    terms.bonus[i] = scale * bonus;
  }
  const weight = z ? scale * gate * (1 - votes) : 0;
  if (weight > 0) {
    keepApart(scores, {
      topK,
      rows,
      sketches: table.sketches,
      utilities,
      evidence,
      weight,
      overlaps: terms.overlap,
    });
  }
  const hostShare = isRanked && !unchanged ? hostShareOf(shared, isTried) : 0;
  return {
    score: scores,
    utility: utilities,
    evidence,
    gate,
    unchanged,
    terms,
    hostShare,
    advantage: hostShare === 0 ? undefined : () => advantageOf(base, similarities, utilities, scores, topK),
  };
}
