import { memoryStore } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { abilitiesOf, conformanceTopics, runCase, type StoreBackend, type StoreSubject } from "../src/index.js";
import { commitMutants } from "./mutants/commit-mutants.js";
import { type Mutant, sharedMemoryBackend, verifying } from "./mutants/mutant.js";
import { readMutants } from "./mutants/read-mutants.js";

const mutants: readonly Mutant[] = [
  ...commitMutants,
  ...readMutants,
  {
    fault: "goes on as if nothing were damaged",
    caughtBy: "damage",
    createBackend: () => ({ ...sharedMemoryBackend(), damage: () => undefined }),
  },
];

/** Titles of the cases that reject a store, of one topic or of all; cases that its abilities rule out are left out. */
async function rejections(subject: StoreSubject, only?: string): Promise<string[]> {
  const abilities = await abilitiesOf(subject);
  const rejecting: string[] = [];
  for (const { topic, cases } of conformanceTopics) {
    if (only !== undefined && topic !== only) continue;
    for (const conformanceCase of cases) {
      if (conformanceCase.needs && !abilities[conformanceCase.needs]) continue;
      await runCase(subject, conformanceCase).catch(() => rejecting.push(`${topic}: ${conformanceCase.title}`));
    }
  }
  return rejecting;
}

describe("the conformance suite", () => {
  it.each(mutants)("catches a store that $fault, where it looks for it", async ({ fault, caughtBy, createBackend }) => {
    expect(await rejections({ name: fault, createBackend }, caughtBy)).not.toEqual([]);
  });

  it.each([
    { name: "memory", createBackend: () => ({ open: () => memoryStore() }) },
    {
      name: "verifying memory",
      createBackend: () => ({
        open() {
          const store = memoryStore();
          return { ...store, ...verifying(store) };
        },
      }),
    },
    { name: "shared memory", createBackend: () => sharedMemoryBackend() },
  ])("accepts the honest $name store that the mutants are made from", async (subject) => {
    expect(await rejections(subject)).toEqual([]);
  });

  it("accepts a backend that is an object of a class", async () => {
    class Backend implements StoreBackend {
      readonly #inner = sharedMemoryBackend();
      open() {
        return this.#inner.open();
      }
      async remember() {
        return (this.#inner.remember as NonNullable<StoreBackend["remember"]>)();
      }
    }
    expect(await rejections({ name: "class", createBackend: () => new Backend() }, "a backend that goes back")).toEqual(
      [],
    );
  });

  it("has a mutant for every topic that a fault can be in", () => {
    const covered = new Set(mutants.map(({ caughtBy }) => caughtBy));
    const uncovered = conformanceTopics.map(({ topic }) => topic).filter((topic) => !covered.has(topic));
    // Replay repeats in other words what the topics with mutants prove; the model has a test of its own below.
    expect(uncovered).toEqual(["replay", "model"]);
  });

  it("catches by its model alone every fault that the model's commands can express", async () => {
    const missed: string[] = [];
    for (const { fault, createBackend } of mutants) {
      const subject = { name: fault, createBackend, model: { runs: 25, seed: 7, shrink: false } };
      if ((await rejections(subject, "model")).length === 0) missed.push(fault);
    }
    expect(missed).toEqual([
      // Two compactions of one namespace are rare among its commands.
      "keeps the states of a checkpoint that a later one removes",
      "writes the states of a revision whose checkpoint is out of date",
      "leaves the times of entries out of its digests",
      "gives entries the same digests in every namespace",
      "begins its digests again after a compaction",
      "accepts a batch beyond the limit",
      "goes on working after it was closed",
      "writes at the head without being asked to",
      "takes on any number of entries at the head",
      "keeps what an earlier refresh knew from its own commits",
      "overwrites the array of a state in place",
      "keeps payloads as text",
      "normalises names",
      "cuts names at 500 units",
      "goes on as if nothing were damaged",
    ]);
  });
});
