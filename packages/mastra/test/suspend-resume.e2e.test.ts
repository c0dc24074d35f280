import { fileURLToPath } from "node:url";
import type { EpisodeView, NamespaceStatus } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { answerOf } from "./support/answer-of.js";
import { temporaryFolder } from "./support/stores.js";

const FIXTURE = fileURLToPath(new URL("fixtures/suspended-run.mjs", import.meta.url));

describe("a run that is suspended by one process and resumed by another", () => {
  it("credits the memories that the first one showed, once, even when that was killed", async () => {
    const folder = temporaryFolder();
    const { runId } = await answerOf<{ runId: string }>(FIXTURE, "start", folder);
    const { episode, status } = await answerOf<{ episode: EpisodeView; status: NamespaceStatus }>(
      FIXTURE,
      "resume",
      folder,
      runId,
    );
    const { outcomes, episodes } = status;
    expect(episode.state).toBe("ended");
    expect(episode.exposures.map(({ items }) => items.length)).toEqual([1]);
    expect(episode.outcome).toMatchObject({ reward: 1, tier: "completed" });
    expect(outcomes.completed).toBe(1);
    expect([episodes.recorded, episodes.suspended, episodes.abandoned]).toEqual([1, 0, 0]);
  });
});
