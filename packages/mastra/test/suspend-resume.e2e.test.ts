import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { EpisodeView, NamespaceStatus } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "./support/stores.js";

const FIXTURE = fileURLToPath(new URL("fixtures/suspended-run.mjs", import.meta.url));

/** Runs one half of a run in a process of its own; it imports the built packages. */
async function inProcess<Answer>(...args: string[]): Promise<Answer> {
  const child = spawn(process.execPath, [FIXTURE, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  return JSON.parse(await text(child.stdout)) as Answer;
}

describe("a run that is suspended by one process and resumed by another", () => {
  it("credits the memories that the first one showed, once, even when that was killed", async () => {
    const folder = temporaryFolder();
    const { runId } = await inProcess<{ runId: string }>("start", folder);
    const { episode, outcomes, episodes } = await inProcess<{
      episode: EpisodeView;
      outcomes: NamespaceStatus["outcomes"];
      episodes: NamespaceStatus["episodes"];
    }>("resume", folder, runId);
    expect(episode.state).toBe("ended");
    expect(episode.exposures.map(({ items }) => items.length)).toEqual([1]);
    expect(episode.outcome).toMatchObject({ reward: 1, tier: "completed" });
    expect(outcomes.completed).toBe(1);
    expect([episodes.recorded, episodes.parked, episodes.abandoned]).toEqual([1, 0, 0]);
  });
});
