import { createEngine, memoryStore } from "@qavr/core";
import { checkLoop, readLoop } from "@qavr/core/adapter";
import { describe, expect, it } from "vitest";

describe("one text under many ids", () => {
  it.each([
    ["is a sign of ids that change", "notes", true],
    ["is no sign among messages, where a question that is asked again is another one", "messages", false],
  ] as const)("%s", async (_, collection, isFound) => {
    const engine = createEngine({ store: memoryStore() });
    for (let run = 0; run < 50; run++) {
      const candidates = [run, run + 1].map((id) => ({ id: `m${id}`, similarity: 0.5, text: "the queue is stuck" }));
      await engine.end((await engine.rank({ collection, candidates, topK: 1 })).episode, { reward: run % 2 });
    }
    const { events } = await engine.history({ limit: 1_000 });
    const found = checkLoop(await readLoop(engine, "default", events.length)).map(({ code }) => code);
    expect(found.includes("IDS_CHANGE")).toBe(isFound);
  });
});
