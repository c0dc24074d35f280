import { createEngine, type Learner, memoryStore } from "@qavr/core";
import { importState } from "@qavr/core/maintenance";
import { score10 } from "@qavr/learners";
import { describe, expect, it } from "vitest";
import { closing } from "../../core/test/support/closing.js";
import { type AgentClaim, agentClaims, importAgentClaims, validateAgentClaim } from "../src/index.js";
import { collection, found } from "./support/collections.js";

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);

const VALID: AgentClaim = {
  id: "m1",
  agentId: "bigquery",
  query: "count the logins of last week",
  claim: "In the auth table, user is an email - joins with accounts need account.email",
  score: 0,
  createdAt: START,
};

/** As the original exports it. */
const EXPORTED = {
  ID: "m1",
  AgentID: "bigquery",
  Query: VALID.query,
  QueryEmbedding: [0.1, 0.2],
  Claim: VALID.claim,
  Score: 1.3,
  CreatedAt: "2026-01-01T00:00:00Z",
  LastUsedAt: "0001-01-01T00:00:00Z",
};

const problem = (memory: unknown): string => {
  try {
    validateAgentClaim(memory as AgentClaim);
    return "";
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${code} ${message}`;
  }
};

describe("an agent's claim", () => {
  it.each([
    ["id", { id: "" }],
    ["agentId", { agentId: "" }],
    ["query", { query: " " }],
    ["claim", { claim: undefined }],
    ["score", { score: 10.001 }],
    ["score", { score: -10.001 }],
    ["createdAt", { createdAt: 0 }],
    ["lastUsedAt", { lastUsedAt: Number.NaN }],
  ])("R2: is refused for its %s, in words of its own: %o", (field, wrong) => {
    expect(problem({ ...VALID, ...wrong })).toMatch(new RegExp(`^INVALID_ARGUMENT An agent's claim: ${field} must be`));
  });

  it("R2: is checked in the order of its fields", () => {
    const fields = ["id", "agentId", "query", "claim", "score", "createdAt"];
    const wrong: Record<string, unknown> = {};
    for (const field of fields) {
      expect(problem(wrong)).toContain(`: ${field} must be`);
      wrong[field] = VALID[field as keyof AgentClaim];
    }
    expect(problem(wrong)).toBe("");
    expect(problem(null)).toContain("it is no object");
  });

  it.each([10, -10, 0])("R2: may have a score of %i, and need not have been used", (score) => {
    expect(problem({ ...VALID, score })).toBe("");
  });

  it("R3: is refused for a score that is not a number", () => {
    expect(problem({ ...VALID, score: Number.NaN })).toContain("score must be in [−10, 10]");
    expect(problem({ ...VALID, score: "1" })).toContain("score must be");
  });
});

const OTHER = { ...EXPORTED, AgentID: "search", Claim: "Other claim", LastUsedAt: "2026-01-02T00:00:00Z" };

describe("a collection of claims", () => {
  it("R1: is read as agent claims, with the score of the votes and the last use", async () => {
    const clock = { now: START + DAY };
    const engine = closing(createEngine({ store: memoryStore(), clock: () => clock.now }));
    const claims = collection({ name: "claims" }).of("bigquery");
    const { id, query, claim, createdAt } = VALID;
    await claims.add([
      { id, text: claim, query, createdAt },
      { id: "m2", text: "never shown", createdAt },
    ]);
    const request = { namespace: "bigquery", collection: "claims", candidates: [{ id, similarity: 1 }], topK: 1 };
    const { episode } = await engine.rank(request);
    await engine.end(episode, { reward: null, harmful: [id] }, { namespace: "bigquery" });
    const first = await agentClaims(engine, claims, { limit: 1 });
    expect(first.claims).toEqual([{ ...VALID, score: -10 / 3, lastUsedAt: clock.now }]);
    expect((await agentClaims(engine, claims, { after: first.next })).claims).toEqual([
      { id: "m2", agentId: "bigquery", query: "", claim: "never shown", score: 0, createdAt },
    ]);
  });

  it("is refused with a code where the arguments are mixed up", async () => {
    const engine = createEngine({ store: memoryStore() });
    const claims = collection();
    const refused = { code: "INVALID_ARGUMENT" };
    await expect(agentClaims(claims as never, engine as never)).rejects.toMatchObject(refused);
    await expect(agentClaims(engine, undefined as never)).rejects.toMatchObject(refused);
    await expect(importAgentClaims([EXPORTED] as never, claims as never)).rejects.toMatchObject(refused);
  });

  it("R1: takes exported memories, each for its agent, found by task and claim", async () => {
    const claims = collection({ name: "claims" });
    const memories = await importAgentClaims(claims, JSON.stringify([EXPORTED, OTHER]));
    expect(memories).toEqual([
      { ...VALID, score: 1.3 },
      { ...VALID, score: 1.3, agentId: "search", claim: "Other claim", lastUsedAt: START + DAY },
    ]);
    expect(await claims.of("bigquery").get("m1")).toEqual({
      id: "m1",
      text: VALID.claim,
      query: VALID.query,
      createdAt: START,
      metadata: { source: "import", imported: { score: 1.3 } },
    });
    expect([await found(claims.of("search"), "logins"), await claims.size()]).toEqual([["m1"], 0]);
    expect(await importAgentClaims(claims, [{ ...EXPORTED, Score: undefined }])).toEqual([{ ...VALID, score: 0 }]);
    expect(await claims.of("bigquery").size()).toBe(1);
  });

  it.each([
    ["what is not JSON", "[", "INVALID_STATE", /must be JSON/],
    ["what is no list", "{}", "INVALID_STATE", /must be a list/],
    ["an entry that is no object", [3], "INVALID_STATE", /Agent claim 1 .* id must be/],
    ["an agent without a name", [EXPORTED, { ...EXPORTED, AgentID: "" }], "INVALID_STATE", /claim 2 .* agentId/],
    ["a time that is none", [{ ...EXPORTED, CreatedAt: "soon" }], "INVALID_STATE", /createdAt/],
    ["a missing time", [{ ...EXPORTED, CreatedAt: "0001-01-01T00:00:00Z" }], "INVALID_STATE", /createdAt/],
    ["a score out of range", [{ ...EXPORTED, Score: 11 }], "INVALID_STATE", /score must be/],
    ["an id that is too long", [EXPORTED, { ...OTHER, ID: "x".repeat(513) }], "LIMIT_EXCEEDED", /memory id/],
    [
      "an agent's name that is too long",
      [EXPORTED, { ...EXPORTED, AgentID: "x".repeat(513) }],
      "LIMIT_EXCEEDED",
      /namesp/,
    ],
  ])("R2: refuses %s and imports nothing", async (_, json, code, message) => {
    const claims = collection();
    await expect(importAgentClaims(claims, json)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
    expect(await claims.of("bigquery").size()).toBe(0);
  });

  it("R10: gives imported scores to the learner that ranks by them", async () => {
    const engine = closing(createEngine({ store: memoryStore(), learner: score10() as Learner, clock: () => START }));
    const claims = collection({ name: "claims" });
    const good = { ...EXPORTED, ID: "good", Score: 2, LastUsedAt: EXPORTED.CreatedAt };
    const memories = await importAgentClaims(claims, [{ ...EXPORTED, Score: -3 }, good]);
    await importState(engine, {
      namespace: "bigquery",
      collection: claims.name,
      memories: memories.map(({ id, score, lastUsedAt = Number.NaN }) => ({
        id,
        state: { value: score, evidence: 1, updates: 1, lastUsed: lastUsedAt },
      })),
    });
    const candidates = ["m1", "good"].map((id) => ({ id, similarity: 0.8 }));
    const { items } = await engine.rank({ namespace: "bigquery", collection: "claims", candidates, topK: 2 });
    expect(items.map(({ id, score }) => [id, score])).toEqual([
      ["good", expect.closeTo(0.78, 12)],
      ["m1", expect.closeTo(0.505, 12)],
    ]);
  });
});
