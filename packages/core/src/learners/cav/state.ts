import type { AdvantageVector } from "../advantage-vector.js";
import type { StateCodec } from "../learner.js";
import { type RequestModel, requestModelCodec } from "../request-model.js";
import { CAV } from "./parameters.js";

/** What is known about one memory: advantages along the centred request vectors. */
export type CavMemory = AdvantageVector;

/** What is known about a collection's requests. */
export type CavShared = RequestModel;

export const sharedCodec: StateCodec<CavShared> = requestModelCodec({
  bias: 0,
  gateNumerator: CAV.gateNumerator,
  gateDenominator: CAV.gateDenominator,
});
