import { type Engine, type MemoryView, QavrError } from "@qavr/core";
import { voteScore } from "@qavr/core/maintenance";
import { assertName, between, type FieldRule, illegalOption } from "@qavr/core/store";
import type { ListOptions, LocalMemories } from "./local-memories.js";
import { checkedMemory, type NewMemory } from "./memory-record.js";

/** A claim that an agent has learned, with its votes and its use. */
export interface AgentClaim {
  readonly id: string;
  /** The agent whose claim it is: the namespace of its collection. */
  readonly agentId: string;
  /** The task that led to it. */
  readonly query: string;
  readonly claim: string;
  /** In [−10, 10]; 0 without votes. */
  readonly score: number;
  /** Unix ms. */
  readonly createdAt: number;
  /** Unix ms; absent if it was never shown. */
  readonly lastUsedAt?: number;
}

const SCORE: FieldRule = between(-10, 10);
const isText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";
const isTime = (value: unknown): boolean => Number.isFinite(value) && (value as number) > 0;

/** Range of each field, in the order of the checks. */
const RULES: readonly (readonly [field: keyof AgentClaim, ...FieldRule])[] = [
  ["id", isText, "a text that is not empty"],
  ["agentId", isText, "the name of an agent"],
  ["query", isText, "the task that led to the claim"],
  ["claim", isText, "a text that is not empty"],
  ["score", ...SCORE],
  ["createdAt", isTime, "a time, in Unix ms after 1970"],
  ["lastUsedAt", (value) => value === undefined || isTime(value), "a time, or absent for a claim that was never shown"],
];

/** @throws INVALID_ARGUMENT for the first field that is missing or outside its range; NaN is outside */
export function validateAgentClaim(claim: AgentClaim): void {
  const problem = problemOf(claim);
  if (problem !== undefined) throw new QavrError("INVALID_ARGUMENT", `An agent's claim: ${problem}.`);
}

/**
 * A page of a collection as claims, with the score of the votes on each and its last use, in order of adding.
 *
 * @throws INVALID_ARGUMENT, LEARNER_MISMATCH, and the codes of the store and the collection
 */
export async function agentClaims(
  engine: Engine,
  collection: LocalMemories,
  page: ListOptions = {},
): Promise<{ readonly claims: readonly AgentClaim[]; readonly next?: string }> {
  if (typeof engine?.memories !== "function")
    throw illegalOption("engine", "agentClaims(): engine must be an engine, such as qavr().engine", engine);
  assertCollection("agentClaims()", collection);
  const { memories, next } = await collection.list(page);
  const { name, namespace } = collection;
  const views = await engine.memories({ namespace, collection: name, ids: memories.map(({ id }) => id) });
  return {
    claims: memories.map(({ id, query = "", text, createdAt }, i) => {
      const view = views.memories[i] as MemoryView;
      const used = view.lastShown === undefined ? {} : { lastUsedAt: view.lastShown };
      return { id, agentId: namespace, query, claim: text, score: voteScore(view), createdAt, ...used };
    }),
    ...(next === undefined ? {} : { next }),
  };
}

/**
 * Adds exported claims to a collection, each to the namespace of its agent. `json` is a list of
 * `{ ID, AgentID, Query, QueryEmbedding, Claim, Score, CreatedAt, LastUsedAt }` with times in ISO 8601, where the year 1 means never, or
 * its text. Embeddings are left out, since the collection makes its own. Scores are no votes, so they go into the metadata, under
 * `imported`.
 *
 * @returns the claims, for the state of a learner that takes scores
 * @throws INVALID_ARGUMENT, INVALID_STATE, INVALID_ID, LIMIT_EXCEEDED before anything is written; EMBEDDING_MISMATCH and the codes of the store
 */
export async function importAgentClaims(
  collection: LocalMemories,
  json: string | readonly unknown[],
): Promise<readonly AgentClaim[]> {
  assertCollection("importAgentClaims()", collection);
  const claims = parse(json);
  const byAgent = new Map<string, NewMemory[]>();
  for (const { id, agentId, query, claim, score, createdAt, lastUsedAt } of claims) {
    const imported = { score, ...(lastUsedAt === undefined ? {} : { lastUsedAt }) };
    const memory = { id, text: claim, query, createdAt, metadata: { source: "import", imported } };
    checkedMemory(memory);
    assertName(agentId, "namespace");
    const own = byAgent.get(agentId);
    if (own) own.push(memory);
    else byAgent.set(agentId, [memory]);
  }
  for (const [agentId, own] of byAgent) await collection.of(agentId).add(own);
  return claims;
}

/** @throws INVALID_ARGUMENT */
function assertCollection(call: string, collection: LocalMemories): void {
  if (typeof collection?.of === "function") return;
  throw illegalOption("collection", `${call}: collection must be one of localMemories()`, collection);
}

function problemOf(claim: AgentClaim): string | undefined {
  if (typeof claim !== "object" || claim === null) return "it is no object";
  const broken = RULES.find(([field, is]) => !is(claim[field]));
  return broken && `${broken[0]} must be ${broken[2]}`;
}

/** @throws INVALID_STATE */
function parse(json: string | readonly unknown[]): readonly AgentClaim[] {
  let list: unknown = json;
  try {
    if (typeof json === "string") list = JSON.parse(json);
  } catch (cause) {
    throw new QavrError("INVALID_STATE", "A file of agent claims must be JSON. Check the file.", { cause });
  }
  if (!Array.isArray(list))
    throw new QavrError("INVALID_STATE", "A file of agent claims must be a list. Check the file.");
  return list.map((entry: unknown, i) => {
    const { ID, AgentID, Query, Claim, Score = 0, CreatedAt, LastUsedAt } = (entry ?? {}) as Record<string, unknown>;
    const used = timeOf(LastUsedAt);
    const memory = { id: ID, agentId: AgentID, query: Query, claim: Claim, score: Score, createdAt: timeOf(CreatedAt) };
    const read = (used === undefined ? memory : { ...memory, lastUsedAt: used }) as AgentClaim;
    const problem = problemOf(read);
    if (problem === undefined) return read;
    throw new QavrError("INVALID_STATE", `Agent claim ${i + 1} of the file: ${problem}. Nothing was imported.`, {
      details: { claim: i + 1 },
    });
  });
}

/** Unix ms; undefined for none, which is also written as the year 1; NaN for other texts that are no time. */
function timeOf(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return new Date(time).getUTCFullYear() === 1 ? undefined : time;
}
