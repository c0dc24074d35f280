import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { RunnableConfig } from "@langchain/core/runnables";
import { bareHandle, checkFields, definedOnly, type FieldRules, illegalOption, SWITCH } from "@qavr/core/adapter";
import type { RecalledMemory } from "../runs/verdict.js";
import { askForReflection, type ReflectionAnswer } from "./ask-for-reflection.js";
import { type ClaimFinding, lintClaim } from "./lint-claim.js";
import { REFLECTION_LIMITS } from "./parameters.js";
import { type ReflectedRun, reflectionPrompt } from "./reflection-prompt.js";

/** Options of {@link reflect}. */
export interface ReflectOptions {
  /** Any LangChain chat model. */
  readonly model: BaseChatModel;
  readonly run: ReflectedRun;
  /** Memories that the run was shown; only these can get a vote. */
  readonly memories: readonly RecalledMemory[];
  /** False asks for JSON in plain text, for models whose tool calling is unreliable. @default true, where the model can */
  readonly structured?: boolean | undefined;
  /** Callbacks, tags and the signal of the run around it. */
  readonly config?: RunnableConfig | undefined;
}

const OPTIONS: FieldRules<ReflectOptions> = {
  model: true,
  run: true,
  memories: true,
  structured: SWITCH,
  config: true,
};

/** Lessons of a run, checked. */
export interface Reflection {
  /** Claims that are clear without their run, at most eight, without repetitions of a memory. */
  readonly newClaims: readonly string[];
  /** Ids of memories that helped. */
  readonly helpfulMemories: readonly string[];
  /** Ids of memories that misled. A memory in neither list was irrelevant, which is no vote. */
  readonly harmfulMemories: readonly string[];
  /** Problems of claims; claims with an error are not among `newClaims`. */
  readonly findings: readonly ClaimFinding[];
  /** Names of memories that were not shown, or that the model put on both sides: left out. */
  readonly ignored: readonly string[];
}

/**
 * Asks a model for the lessons of a finished run: new claims, and votes on the memories shown. Changes nothing.
 *
 * @throws INVALID_ARGUMENT, INVALID_MODEL_OUTPUT for an answer of another form, and the model's errors
 */
export async function reflect(options: ReflectOptions): Promise<Reflection> {
  checkFields("reflect()", options, OPTIONS, ["model", "run", "memories"]);
  const { model, run, memories, structured = true, config = {} } = options;
  assertModel(model);
  if (typeof run !== "object" || run === null)
    throw illegalOption("run", "run must be a finished run: { input, output } or { input, error }", run);
  if (!Array.isArray(memories))
    throw illegalOption("memories", "memories must be the list of memories that the run was shown", memories);
  const wrong = memories.findIndex((memory) => typeof memory?.document?.pageContent !== "string");
  if (wrong >= 0)
    throw illegalOption(
      "memories",
      "Each of memories must be { id, handle, document }, as evaluate gets it",
      memories[wrong],
    );
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
    throw illegalOption("model", "model must be a LangChain chat model", model);
  }
}

/**
 * A model's votes as ids: finds the memories that it named by handle or id, with or without brackets. Names of memories that were not shown are ignored;
 * so are memories on both sides, since the model's intention is unclear.
 */
function resolveVotes(
  { helpfulMemories, harmfulMemories }: Pick<ReflectionAnswer, "helpfulMemories" | "harmfulMemories">,
  shown: readonly RecalledMemory[],
): Record<"helpful" | "harmful" | "ignored", string[]> {
  const idOf = (name: string): string | undefined => {
    const bare = bareHandle(name);
    return (shown.find(({ id }) => id === bare) ?? shown.find(({ handle }) => handle === bare))?.id;
  };
  const helpful = new Set(helpfulMemories.map(idOf));
  const harmful = new Set(harmfulMemories.map(idOf));
  const counts = (id: string | undefined): id is string => id !== undefined && !(helpful.has(id) && harmful.has(id));
  return {
    helpful: [...helpful].filter(counts),
    harmful: [...harmful].filter(counts),
    ignored: [...new Set([...helpfulMemories, ...harmfulMemories].filter((name) => !counts(idOf(name))))],
  };
}
