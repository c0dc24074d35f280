import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { RunnableConfig } from "@langchain/core/runnables";
import { definedOnly } from "@qavr/core";
import { refuse } from "../ranking/ranking-options.js";
import type { RecalledMemory } from "../runs/verdict.js";
import { askForReflection } from "./ask-for-reflection.js";
import { type ClaimFinding, lintClaim } from "./lint-claim.js";
import { REFLECTION_LIMITS } from "./parameters.js";
import { type ReflectedRun, reflectionPrompt } from "./reflection-prompt.js";
import { resolveVotes } from "./resolve-votes.js";

/** What {@link reflect} is given. */
export interface ReflectOptions {
  /** Any LangChain chat model. */
  readonly model: BaseChatModel;
  readonly run: ReflectedRun;
  /** What the run was shown; only these can get a vote. */
  readonly memories: readonly RecalledMemory[];
  /** False asks for JSON in plain text, for models whose tool calling is unreliable. @default true, where the model can */
  readonly structured?: boolean | undefined;
  /** Callbacks, tags and the signal of the run around it. */
  readonly config?: RunnableConfig | undefined;
}

/** What a run taught, checked. */
export interface Reflection {
  /** Claims that stand on their own, at most eight, without those that a memory says already. */
  readonly newClaims: readonly string[];
  /** Ids of memories that helped. */
  readonly helpfulMemories: readonly string[];
  /** Ids of memories that misled. A memory in neither list was irrelevant, which is no vote. */
  readonly harmfulMemories: readonly string[];
  /** What is wrong with claims; those with an error are not among `newClaims`. */
  readonly findings: readonly ClaimFinding[];
  /** Names that the model gave to memories which were not shown, or to both sides: left out. */
  readonly ignored: readonly string[];
}

/**
 * Asks a model what a finished run teaches: new claims, and which of the memories shown helped or misled. Changes nothing.
 *
 * @throws INVALID_ARGUMENT, INVALID_MODEL_OUTPUT for an answer that has not the form asked for, and what the model throws
 */
export async function reflect(options: ReflectOptions): Promise<Reflection> {
  const { model, run, memories, structured = true, config = {} } = options;
  assertModel(model);
  if (typeof run !== "object" || run === null)
    refuse("run", run, "must be a finished run: { input, output } or { input, error }");
  if (!Array.isArray(memories)) refuse("memories", memories, "must be the list of memories that the run was shown");
  const shown = memories.slice(0, REFLECTION_LIMITS.memories);
  const answer = await askForReflection(model, reflectionPrompt(run, shown), {
    structured,
    config: { timeout: REFLECTION_LIMITS.timeout, ...definedOnly(config) },
  });
  const known = new Set(shown.map(({ document }) => document.pageContent.trim()));
  const claims = [...new Set(answer.newClaims.map((claim) => claim.trim().toWellFormed()))]
    .filter((claim) => claim !== "" && !known.has(claim))
    .slice(0, REFLECTION_LIMITS.claims);
  const findings = claims.flatMap(lintClaim);
  const isSound = (claim: string): boolean =>
    !findings.some((finding) => finding.claim === claim && finding.severity === "error");
  const { helpful, harmful, ignored } = resolveVotes(answer, shown);
  return { newClaims: claims.filter(isSound), helpfulMemories: helpful, harmfulMemories: harmful, findings, ignored };
}

/** @throws INVALID_ARGUMENT */
export function assertModel(model: unknown): void {
  if (typeof (model as { invoke?: unknown } | null | undefined)?.invoke !== "function") {
    refuse("model", model, "must be a LangChain chat model");
  }
}
