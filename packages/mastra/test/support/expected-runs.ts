import type { EpisodeView } from "@qavr/core";
import { expect } from "vitest";
import type { Bench } from "./bench.js";

/** The expected record of a run: its state and the outcome that counts. */
export interface Expected {
  readonly state: EpisodeView["state"];
  readonly reward?: number | null;
  readonly tier?: string;
}

export const SUCCESS: Expected = { state: "ended", reward: 1, tier: "completed" };
export const WEAK_FAILURE: Expected = { state: "ended", reward: 0, tier: "completed" };
export const FAILURE: Expected = { state: "ended", reward: 0, tier: "observed" };
export const NOTHING: Expected = { state: "ended" };

/** Expects that a run was shown one memory, and that its end recorded this outcome once. */
export async function expectRun(
  { ledger }: Bench,
  episode: EpisodeView | undefined,
  { state, reward, tier }: Expected,
  shown: string,
): Promise<void> {
  expect(episode?.state).toBe(state);
  expect(episode?.exposures.map(({ items }) => items.map(({ id }) => id))).toEqual([[shown]]);
  expect(episode?.outcome).toEqual(tier === undefined ? undefined : expect.objectContaining({ reward, tier }));
  const entries = await ledger.readEntries("default", { limit: 1_000 });
  const outcomes = entries.filter(({ type, key }) => type === "outcome" && key.includes(episode?.episode ?? "none"));
  expect(outcomes).toHaveLength(tier === undefined ? 0 : 1);
}

/** Reads a stream to its end. */
export async function consume(output: { readonly fullStream: AsyncIterable<unknown> }): Promise<void> {
  for await (const _part of output.fullStream);
}
