import type { SimulationPlan } from "./simulate.js";
import { TENANT } from "./tenants.js";

/** One run of the command, but for the shares of its traffic. */
export interface ScalePlan extends Omit<SimulationPlan, "shares"> {
  /** Of the Zipf law. */
  readonly exponent: number;
  /** Tenants of the small server. */
  readonly calibrated: number;
}

const COMMON = { schema: "qavr", shape: TENANT, exponent: 1, clients: 8, rates: [1, 2, 4, 8, 16] } as const;

/** The one that is published: a quarter of an hour, 5 GB of disk. */
export const FULL: ScalePlan = {
  ...COMMON,
  sizes: [1_000, 10_000, 100_000],
  calibrated: 1_000,
  outcomes: 20_000,
  parts: 5,
  rounds: 3,
  duration: 2_500,
};

/** Two minutes. */
export const LOOK: ScalePlan = {
  ...COMMON,
  sizes: [1_000, 5_000],
  calibrated: 500,
  outcomes: 3_000,
  parts: 3,
  rounds: 2,
  duration: 1_500,
};
