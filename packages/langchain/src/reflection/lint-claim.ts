import { illegalOption } from "@qavr/core/adapter";
import { REFLECTION_LIMITS } from "./parameters.js";

/** The faults of a claim. */
export type ClaimRule = "too-short" | "too-long" | "outcome-only" | "dangling-reference" | "no-reason";

/** One fault of one claim. */
export interface ClaimFinding {
  readonly claim: string;
  readonly rule: ClaimRule;
  /** A claim with an `error` means nothing outside its run and is not kept. */
  readonly severity: "error" | "warning";
  /** Advice to the author. */
  readonly advice: string;
}

interface Rule {
  readonly rule: ClaimRule;
  readonly severity: ClaimFinding["severity"];
  readonly advice: string;
  isBroken(claim: string): boolean;
}

/** "The task was successful": the outcome is recorded elsewhere, and gives no advice for the next run. */
const OUTCOME_ONLY =
  /^(the |this )?(task|run|request|job|execution|operation|query|agent|attempt)\b[^.]{0,24}\b(successful(ly)?|succeeded|completed|finished|done|failed|unsuccessful)\W*$/i;

/** "It failed", "this is wrong", "see above": readers of the claim have not read the run. */
const DANGLING =
  /^(it|he|she|they|this|that|these|those)\s+(is|was|are|were|has|had|have|did|does|do|will|would|can|could|should|must|may|might|failed|worked|works|means|meant|happened|needs?|seems?)\b|\b(see above|as above|as mentioned|the (former|latter|above))\b/i;

/** Words that give a reason. */
const REASON =
  /\s[-–—]\s|[—:：]|\b(because|since|so that|due to|otherwise|in order to|to avoid|therefore)\b|ため|ので|から/i;

const RULES: readonly Rule[] = [
  {
    rule: "too-short",
    severity: "error",
    advice: "Name the context: which table, which service, which limit.",
    isBroken: (claim) => wordsIn(claim) < REFLECTION_LIMITS.claimWords,
  },
  {
    rule: "too-long",
    severity: "error",
    advice: "State one thing; split it if there are several.",
    isBroken: (claim) => claim.length > REFLECTION_LIMITS.claim,
  },
  {
    rule: "outcome-only",
    severity: "error",
    advice: "Say what to do next time, not how this run went.",
    isBroken: (claim) => OUTCOME_ONLY.test(claim),
  },
  {
    rule: "dangling-reference",
    severity: "error",
    advice: "Name what is meant: nobody who reads the claim has read the run.",
    isBroken: (claim) => DANGLING.test(claim),
  },
  {
    rule: "no-reason",
    severity: "warning",
    advice: "Add why it matters: [context] [what was found] - [why].",
    isBroken: (claim) => !REASON.test(claim),
  },
];

/** The faults of a claim for readers who did not see its run; empty for a good claim. @throws INVALID_ARGUMENT for one that is no text */
export function lintClaim(claim: string): ClaimFinding[] {
  if (typeof claim !== "string") throw illegalOption("claim", "lintClaim(): a claim must be a text", claim);
  return RULES.filter(({ isBroken }) => isBroken(claim.trim())).map(({ rule, severity, advice }) => ({
    claim,
    rule,
    severity,
    advice,
  }));
}

/** Words by Unicode's rules, so that languages without spaces count too. */
function wordsIn(text: string): number {
  let words = 0;
  for (const { isWordLike } of new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)) {
    if (isWordLike) words += 1;
  }
  return words;
}
