import { RunnableLambda } from "@langchain/core/runnables";
import { memoryStore } from "@qavr/core";
import { qavr } from "@qavr/langchain";
import { describe, expect, it, onTestFinished } from "vitest";
import { lesson, lessonsIn, vault } from "./support/vault.js";

const FILE = `### [2026-01-02] Cache

When a deploy fails, clear the cache.

### [2026-01-03] Permissions

When the deploy of a folder fails, fix its permissions.
`;

describe("lessons in LangChain", () => {
  it("L4: are ranked by how runs end, and counted once for each run that showed them", async () => {
    const memory = qavr({
      store: memoryStore(),
      evaluate: ({ output }) => String(output).startsWith("Permissions"),
    });
    onTestFinished(() => memory.close());
    const lessons = lessonsIn(vault({ "ops/90-lessons.md": FILE }), { engine: memory.engine });
    const retriever = memory.retriever(lessons.collection, { k: 1 });
    const chain = memory.track(
      RunnableLambda.from(
        async (question: string, config) => (await retriever.invoke(question, config))[0]?.pageContent ?? "",
      ),
    );
    const answers: string[] = [];
    for (let run = 0; run < 6; run++) answers.push(await chain.invoke("deploy fails"));
    expect(answers[0]).toMatch(/^Cache/);
    expect(answers.slice(-2).every((answer) => answer.startsWith("Permissions"))).toBe(true);
    const counts = [await lesson(lessons, "Cache"), await lesson(lessons, "Permissions")].map(
      (one) => one.reinforcements,
    );
    expect(counts).toEqual(
      ["Cache", "Permissions"].map((title) => answers.filter((one) => one.startsWith(title)).length),
    );
    const { lessons: found } = await lessons.search({ text: "deploy fails", rankBy: "learned" });
    expect(found[0]?.title).toBe("Permissions");
  });
});
