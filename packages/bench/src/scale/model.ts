import { median } from "@qavr/lab";
import type { Cost, ScaleResults } from "./measure.js";
import { TENANT } from "./tenants.js";

/** A prediction is right when neither number is more than 1.3 times the other. */
export const TOLERANCE = 0.3;

/** A prediction beside its measurement. */
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

export function isWithin(compared: Pick<Compared, "predicted" | "measured">): boolean {
  const ratio = ratioOf(compared);
  return ratio <= 1 + TOLERANCE && ratio >= 1 / (1 + TOLERANCE);
}

/** Share of states that the traffic found in its process: a cold ranking asks for all states. */
export function cachedShare({ costs }: Pick<ScaleResults, "costs">): number {
  return 1 - costs.traffic.states / costs.cold.states;
}

/**
 * The model: every tenant, memory and run costs the large server what it costs the small one.
 *
 *     cost of an outcome = c · warm + (1 − c) · cold        outcomes per second = small rate · warm CPU ÷ CPU of the traffic
 *
 * c: the measured share of states found in the process ({@link cachedShare}); CPU: application and server together.
 */
export function compare(results: ScaleResults): readonly Compared[] {
  const { plan, disk, reads, costs, together, rates } = results;
  const { small, large, totals, growth } = disk;
  const tenants = plan.sizes.at(-1) as number;
  const cached = cachedShare(results);
  const mixed = (warm: number, cold: number): number => cached * warm + (1 - cached) * cold;
  const cost = (of: keyof Cost): number => mixed(costs.warm[of], costs.cold[of]);
  const slower = (costs.warm.app + costs.warm.server) / (cost("app") + cost("server"));
  const row = (what: string, unit: string, predicted: number, measured: number): Compared => ({
    what,
    unit,
    predicted,
    measured,
  });
  const perTenant = (totals[0] as number) / (plan.sizes[0] as number);
  return [
    row("disk: a namespace", "bytes", small.namespace, large.namespace),
    row("disk: a memory", "bytes", small.memory, large.memory),
    row("disk: a run", "bytes", small.run, large.run),
    row("disk: all tenants", "MB", (tenants * perTenant) / 1e6, (totals.at(-1) as number) / 1e6),
    row("disk: growth per outcome, before a vacuum", "bytes", small.run, growth / plan.outcomes),
    row("log: an outcome", "bytes", cost("log"), costs.traffic.log),
    row("round trips per outcome", "", cost("roundTrips"), costs.traffic.roundTrips),
    ...plan.sizes.map((size, place) =>
      row(
        `reading ${TENANT.memories} states, ${size.toLocaleString("en")} tenants`,
        "µs",
        reads.small[place] as number,
        reads.large[place] as number,
      ),
    ),
    row("CPU of the server per outcome", "µs", cost("server"), costs.traffic.server),
    row("CPU of the application per outcome", "µs", cost("app"), costs.traffic.app),
    ...rates.map((rate) =>
      row(
        `outcomes per second, ${rate.clients} ${rate.clients === 1 ? "client" : "clients"}`,
        "",
        median(rate.small) * slower,
        median(rate.large),
      ),
    ),
    row("one tenant, 50 callers: CPU of the server per outcome", "µs", together.small.server, together.large.server),
    row("one tenant, 50 callers: CPU of the application", "µs", together.small.app, together.large.app),
  ];
}
