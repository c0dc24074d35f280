import { type Engine, type MemoryView, QavrError } from "@qavr/core";
import { voteScore } from "@qavr/core/maintenance";
import { assertName, between, type FieldRule } from "@qavr/core/store";
import type { ListOptions, LocalMemories } from "./local-memories.js";
import { checkedMemory, type NewMemory } from "./memory-record.js";

/** A claim that an agent has learned, with its votes and its use. */
export interface AgentMemory {
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

/** What each field must be, in the order of the checks. */
const RULES: readonly (readonly [field: keyof AgentMemory, ...FieldRule])[] = [
  ["id", isText, "a text that is not empty"],
  ["agentId", isText, "the name of an agent"],
  ["query", isText, "the task that led to the claim"],
  ["claim", isText, "a text that is not empty"],
  ["score", ...SCORE],
  ["createdAt", isTime, "a time, in Unix ms after 1970"],
  ["lastUsedAt", (value) => value === undefined || isTime(value), "a time, or absent for a memory that was never used"],
];

/** @throws INVALID_ARGUMENT for the first field that is missing or outside its range; NaN is outside */
export function validateAgentMemory(memory: AgentMemory): void {
  const problem = problemOf(memory);
  if (problem !== undefined) throw new QavrError("INVALID_ARGUMENT", `An agent's memory: ${problem}.`);
}

/**
 * A page of a collection as agent memories: the claims with the score of the votes on them and their last use, in order of adding.
 *
 * @throws INVALID_ARGUMENT, LEARNER_MISMATCH, and the codes of the store and the collection
 */
export async function agentMemories(
  engine: Engine,
  claims: LocalMemories,
  page: ListOptions = {},
): Promise<{ readonly memories: readonly AgentMemory[]; readonly next?: string }> {
  const { memories, next } = await claims.list(page);
  const { name: collection, namespace } = claims;
  const views = await engine.memories({ namespace, collection, ids: memories.map(({ id }) => id) });
  return {
    memories: memories.map(({ id, query = "", text, createdAt }, i) => {
      const view = views.memories[i] as MemoryView;
      const used = view.lastShown === undefined ? {} : { lastUsedAt: view.lastShown };
      return { id, agentId: namespace, query, claim: text, score: voteScore(view), createdAt, ...used };
    }),
    ...(next === undefined ? {} : { next }),
  };
}

/**
 * Adds exported agent memories to a collection, each to the namespace of its agent. `json` is a list of
 * `{ ID, AgentID, Query, QueryEmbedding, Claim, Score, CreatedAt, LastUsedAt }` with times in ISO 8601, where the year 1 means never, or
 * its text. Embeddings are left out, since the collection makes its own. Scores are no votes, so they go into the metadata, under
 * `imported`.
 *
 * @returns the memories, for the state of a learner that takes scores
 * @throws INVALID_STATE, INVALID_ID, LIMIT_EXCEEDED before anything is written; EMBEDDING_MISMATCH and the codes of the store
 */
export async function importAgentMemories(
  claims: LocalMemories,
  json: string | readonly unknown[],
): Promise<readonly AgentMemory[]> {
  const memories = parse(json);
  const byAgent = new Map<string, NewMemory[]>();
  for (const { id, agentId, query, claim, score, createdAt, lastUsedAt } of memories) {
    const imported = { score, ...(lastUsedAt === undefined ? {} : { lastUsedAt }) };
    const memory = { id, text: claim, query, createdAt, metadata: { source: "import", imported } };
    checkedMemory(memory);
    assertName(agentId, "namespace");
    const own = byAgent.get(agentId);
    if (own) own.push(memory);
    else byAgent.set(agentId, [memory]);
  }
  for (const [agentId, own] of byAgent) await claims.of(agentId).add(own);
  return memories;
}

function problemOf(memory: AgentMemory): string | undefined {
  if (typeof memory !== "object" || memory === null) return "it is no object";
  const broken = RULES.find(([field, is]) => !is(memory[field]));
  return broken && `${broken[0]} must be ${broken[2]}`;
}

/** @throws INVALID_STATE */
function parse(json: string | readonly unknown[]): readonly AgentMemory[] {
  let list: unknown = json;
  try {
    if (typeof json === "string") list = JSON.parse(json);
  } catch (cause) {
    throw new QavrError("INVALID_STATE", "A file of agent memories must be JSON. Check the file.", { cause });
  }
  if (!Array.isArray(list))
    throw new QavrError("INVALID_STATE", "A file of agent memories must be a list. Check the file.");
  return list.map((entry: unknown, i) => {
    const { ID, AgentID, Query, Claim, Score = 0, CreatedAt, LastUsedAt } = (entry ?? {}) as Record<string, unknown>;
    const used = timeOf(LastUsedAt);
    const memory = { id: ID, agentId: AgentID, query: Query, claim: Claim, score: Score, createdAt: timeOf(CreatedAt) };
    const read = (used === undefined ? memory : { ...memory, lastUsedAt: used }) as AgentMemory;
    const problem = problemOf(read);
    if (problem === undefined) return read;
    throw new QavrError("INVALID_STATE", `Agent memory ${i + 1} of the file: ${problem}. Nothing was imported.`, {
      details: { memory: i + 1 },
    });
  });
}

/** Unix ms; undefined for none, which is also written as the year 1; NaN for what is no time. */
function timeOf(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return new Date(time).getUTCFullYear() === 1 ? undefined : time;
}
