import type { StateCodec } from "../learner.js";
import { type RequestModel, requestModelCodec } from "../request-model.js";
import type { VectorMemory } from "../vector-memory.js";
import { CAV } from "./parameters.js";

/** What is known about one memory: its vector sums advantages along requests. */
export type CavMemory = VectorMemory;

/** What is known about a collection's requests. */
export type CavShared = RequestModel;

export const sharedCodec: StateCodec<CavShared> = requestModelCodec({
  bias: 0,
  gateNumerator: CAV.gateNumerator,
  gateDenominator: CAV.gateDenominator,
});
