import { memoryStore } from "@qavr/core";
import { onTestFinished, vi } from "vitest";
import { type Qavr, qavr } from "../../src/index.js";

/** Memories that leave the host its own order, and why. */
export const PASSING: readonly [string, () => Qavr][] = [
  ["learning is switched off", () => qavr({ store: memoryStore(), enabled: false })],
  [
    "the environment switches learning off",
    () => {
      vi.stubEnv("QAVR_DISABLED", "1");
      onTestFinished(() => void vi.unstubAllEnvs());
      return qavr({ store: memoryStore(), enabled: true });
    },
  ],
  ["the namespace has no evidence", () => qavr({ store: memoryStore(), logger: {} })],
];
