import { mean, median } from "../statistics/interval.js";
import { type Constants, inMood, meanLatencies } from "./constants.js";
import { lookupPages } from "./lookup.js";
import type { Cost } from "./pass.js";
import {
  cachedAfter,
  changedPages,
  type Plant,
  predictDisk,
  predictLatency,
  predictRead,
  predictTraffic,
  slowdown,
  type TrafficPrediction,
} from "./prediction.js";
import type { Beside, CachedPoint, Simulation, SimulationPlan } from "./simulate.js";

/** How far a prediction may be off. */
export const TOLERANCE = 0.3;

/** A number that was foretold, and what it came to. */
export interface Compared {
  readonly what: string;
  readonly unit: string;
  readonly predicted: number;
  readonly measured: number;
}

/** Measured ÷ predicted. */
export function ratioOf({ predicted, measured }: Pick<Compared, "predicted" | "measured">): number {
  return measured / predicted;
}

/** Whether neither is more than 1.3 times the other. */
export function isWithin(compared: Pick<Compared, "predicted" | "measured">): boolean {
  const ratio = ratioOf(compared);
  return ratio <= 1 + TOLERANCE && ratio >= 1 / (1 + TOLERANCE);
}

/** What the calibration says about a plant before anybody has looked at it. */
export interface Foretold {
  readonly disk: number;
  readonly traffic: TrafficPrediction;
  /** Pages that the look-up of one state reads, by the plan's sizes. */
  readonly pages: readonly number[];
  readonly curve: readonly CachedPoint[];
}

/** Points of the foretold curve. */
const POINTS = 40;

export function foretell(constants: Constants, plant: Plant, plan: SimulationPlan, partitions: number): Foretold {
  const { memories, namespaces, packing } = constants.contents;
  const perTenant = memories / namespaces + 2 + plant.shape.history;
  return {
    disk: predictDisk(constants, plant),
    traffic: predictTraffic(constants, plant, plan.outcomes),
    pages: plan.sizes.map((tenants) =>
      lookupPages((tenants * perTenant) / partitions, packing.stateLeaf, packing.innerEntry),
    ),
    curve: Array.from({ length: POINTS }, (_, step) => {
      const [from, to] = [step, step + 1].map((end) => (end * plan.outcomes) / POINTS) as [number, number];
      return { outcomes: to, cached: cachedAfter(constants, plant, (from + to) / 2) };
    }),
  };
}

/** Every number of the model beside what the simulation measured. */
export function compare(
  constants: Constants,
  plant: Plant,
  plan: SimulationPlan,
  foretold: Foretold,
  simulation: Simulation,
  beside: Beside,
): readonly Compared[] {
  const { contents, traffic } = simulation;
  const { bytes } = constants.contents;
  const present = inMood(constants, beside.costs);
  const { app, database } = predictTraffic(present, plant, plan.outcomes);
  const cached = cachedAfter(constants, plant, plan.outcomes);
  const later = costLater(present, plant, plan.outcomes, cached);
  const latencies = meanLatencies(beside.latencies);
  const latency = predictLatency(latencies, cached);
  const shared = (of: (cost: Cost) => number): number => mean(beside.shared.map(of));
  const row = (what: string, unit: string, predicted: number, measured: number): Compared => ({
    what,
    unit,
    predicted,
    measured,
  });
  return [
    row("disk: a namespace", "bytes", bytes.namespace, contents.bytes.namespace),
    row("disk: a memory", "bytes", bytes.memory, contents.bytes.memory),
    row("disk: a run", "bytes", bytes.run, contents.bytes.run),
    row("disk: all tenants", "MB", foretold.disk / 1e6, contents.total / 1e6),
    row("disk: growth by the traffic", "MB", foretold.traffic.growth / 1e6, traffic.growth / 1e6),
    row("log: an outcome", "bytes", foretold.traffic.walBytes, traffic.walBytes),
    row("log: whole pages per outcome", "", foretold.traffic.images, traffic.images),
    row("states found in the process", "share", foretold.traffic.cached, traffic.cached),
    row("states read per ranking", "", foretold.traffic.rankedStates, traffic.asked.rankedStates),
    row("round trips per outcome", "", foretold.traffic.roundTrips, traffic.asked.roundTrips),
    ...plan.sizes.map((tenants, place) =>
      row(
        `pages per look-up, ${tenants.toLocaleString("en")} tenants`,
        "",
        foretold.pages[place] as number,
        simulation.growth[place]?.pages as number,
      ),
    ),
    ...plan.sizes.map((tenants, place) =>
      row(
        `reading ${plan.shape.memories} states, ${tenants.toLocaleString("en")} tenants`,
        "µs",
        predictRead(
          beside.lookups[place] as Beside["lookups"][number],
          (foretold.disk * tenants) / plant.tenants,
          plant,
        ),
        simulation.growth[place]?.read as number,
      ),
    ),
    row("CPU of the server per outcome", "µs", database, traffic.database),
    row("CPU of the application per outcome", "µs", app, traffic.app),
    row("a ranking, one caller", "µs", latency.ranking, mean(simulation.latencies.map(({ ranking }) => ranking))),
    row("an outcome, one caller", "µs", latency.outcome, mean(simulation.latencies.map(({ outcome }) => outcome))),
    ...simulation.rates.map(({ clients, rounds }, place) =>
      row(
        `outcomes per second, ${clients} ${clients === 1 ? "client" : "clients"}`,
        "1/s",
        median(beside.rates[place]?.rounds as number[]) * slowdown(present, latencies, later, clients),
        median(rounds),
      ),
    ),
    row(
      "one tenant, 50 callers: CPU of the server per outcome",
      "µs",
      shared(({ database }) => database),
      simulation.shared.database,
    ),
    row(
      "one tenant, 50 callers: CPU of the application",
      "µs",
      shared(({ app }) => app),
      simulation.shared.app,
    ),
  ];
}

/** What an outcome costs once so many have gone before since the last checkpoint. */
function costLater(
  constants: Constants,
  plant: Plant,
  outcomes: number,
  cached: number,
): Pick<TrafficPrediction, "cached" | "app" | "database"> {
  const { warm, cold, image } = constants;
  const next = outcomes * 1.1;
  const images = (changedPages(constants, plant, next) - changedPages(constants, plant, outcomes)) / (next - outcomes);
  return {
    cached,
    app: cached * warm.app + (1 - cached) * cold.app,
    database: cached * warm.database + (1 - cached) * cold.database + images * image.cpu,
  };
}
