import { linePlot } from "../plot/line-plot.js";
import { type Machine, machine, machineText } from "../report/machine.js";
import { markdownTable, plain } from "../report/markdown-table.js";
import { keyBytes } from "./capacity.js";
import { type Compared, type Foretold, isWithin, ratioOf, TOLERANCE } from "./comparison.js";
import type { Constants } from "./constants.js";
import type { Beside, Simulation, SimulationPlan } from "./simulate.js";

/** Files in docs/benchmarks. */
export const FILES = { page: "scale.md", raw: "scale.json", plot: "scale.svg" } as const;

/** Everything that a reader needs to repeat or doubt the numbers. */
export interface ScaleReport {
  readonly command: string;
  readonly date: string;
  readonly hardware: Machine;
  readonly versions: Readonly<Record<string, string>>;
  /** Settings of both servers that differ from their defaults. */
  readonly settings: Readonly<Record<string, string>>;
  /** Tenants of the small server. */
  readonly calibrated: number;
  readonly plan: Omit<SimulationPlan, "shares" | "schema"> & { readonly exponent: number };
  /** As calibrated before, with the CPU times of all calibrations beside the simulation. */
  readonly constants: Constants;
  readonly foretold: Foretold;
  readonly compared: readonly Compared[];
  readonly simulation: Simulation;
  readonly beside: Beside;
}

export function scaleReport(results: Omit<ScaleReport, "date" | "hardware">): ScaleReport {
  return { date: new Date().toISOString().slice(0, 10), hardware: machine(), ...results };
}

export function comparedTable(compared: readonly Compared[]): string {
  return markdownTable(
    ["", "unit", "predicted", "measured", "measured ÷ predicted"],
    compared.map((one) => {
      const ratio = plain(ratioOf(one), 2);
      return [one.what, one.unit, number(one.predicted), number(one.measured), isWithin(one) ? ratio : `**${ratio}**`];
    }),
  );
}

export function constantsTable(constants: Constants): string {
  const { contents, warm, cold, firstWal, image, shared, lookup, evicted } = constants;
  const { bytes } = contents;
  return markdownTable(
    ["measured on few tenants", "unit", "value"],
    [
      ["disk: a namespace with its collection's state and counts", "bytes", number(bytes.namespace)],
      ["disk: a memory's state", "bytes", number(bytes.memory)],
      ["disk: a run's two entries", "bytes", number(bytes.entries)],
      ["disk: a run's episode", "bytes", number(bytes.episode)],
      ["disk: the key of an entry that was compacted away", "bytes", number(keyBytes(constants))],
      ["log: an outcome", "bytes", number(warm.walBytes)],
      ["log: a tenant's first outcome after its rows were packed", "bytes", number(firstWal)],
      ["log: a page's first change after a checkpoint, on top", "bytes", number(image.bytes)],
      ["server: CPU of an outcome with its ranking, warm", "µs", number(warm.database)],
      ["server: the same, cold", "µs", number(cold.database)],
      ["server: CPU of a page's first change after a checkpoint, on top", "µs", number(image.cpu)],
      ["application: CPU of an outcome with its ranking, warm", "µs", number(warm.app)],
      ["application: the same, cold", "µs", number(cold.app)],
      ["round trips, warm", "", number(warm.asked.roundTrips)],
      ["round trips, cold", "", number(cold.asked.roundTrips)],
      ["states read, cold", "", number(cold.asked.rankedStates)],
      ["reading all states of a tenant, one caller", "µs", number(lookup.read)],
      ["the same, no page in the server's buffers", "µs", number(evicted.read)],
      ["server: CPU of an outcome, 50 callers of one tenant", "µs", number(shared.database)],
      ["application: the same", "µs", number(shared.app)],
      ["round trips of that", "", number(shared.asked.roundTrips)],
      ["log of that", "bytes", number(shared.walBytes)],
    ],
  );
}

function growthTable({ simulation: { growth } }: ScaleReport): string {
  return markdownTable(
    ["tenants", "MB on disk", "pages per look-up", "µs to read a tenant's states"],
    growth.map(({ tenants, bytes, pages, read }) => [whole(tenants), whole(bytes / 1e6), plain(pages, 2), whole(read)]),
  );
}

function memoryTable({ simulation: { memory } }: ScaleReport): string {
  return markdownTable(
    ["tenants met since", "MB in use"],
    memory.map(({ tenants, heap }) => [whole(tenants), whole(heap / 1e6)]),
  );
}

/** What was found in the process, by the outcomes that it had seen: foretold and measured. */
export function scalePlot({ foretold, simulation, plan }: ScaleReport): string {
  const points = (curve: Foretold["curve"]) => curve.map(({ outcomes, cached }) => ({ x: outcomes, y: cached }));
  return linePlot({
    title: "States that a ranking finds in its process",
    subtitle: `share, ${whole(plan.sizes.at(-1) ?? 0)} tenants with Zipf traffic; predicted before it was measured`,
    xLabel: "outcomes since the process began",
    yLabel: "share of states",
    series: [
      { name: "measured", points: points(simulation.curve) },
      { name: "predicted", points: points(foretold.curve) },
    ],
  });
}

/** Which predictions miss, furthest first. */
export function missedLines(compared: readonly Compared[]): readonly string[] {
  const off = (one: Compared): number => Math.abs(Math.log(ratioOf(one)));
  return compared
    .filter((one) => !isWithin(one))
    .toSorted((a, b) => off(b) - off(a))
    .map(
      (one) =>
        `${one.what}: ${number(one.measured)} ${one.unit} measured, ${number(one.predicted)} predicted, ${plain(ratioOf(one), 2)} of it.${reasonFor(one)}`,
    );
}

/** Why a prediction of its kind is likely to miss, as far as that is known. */
function reasonFor({ what }: Compared): string {
  if (/^(reading|a ranking|an outcome|outcomes per second)/.test(what)) {
    return " A time by the clock: what it follows from was taken seconds before, and the disk and other work do not stand still.";
  }
  return "";
}

export function reportPage(report: ScaleReport): string {
  const { command, date, hardware, versions, settings, calibrated, plan, compared, constants, simulation } = report;
  const tenants = plan.sizes.at(-1) ?? 0;
  const missed = missedLines(compared);
  const { vacuum, rates } = simulation;
  const within = compared.length - missed.length;
  return `# Scale

What ${whole(calibrated)} tenants tell about ${whole(tenants)}. A model predicts, from constants that are measured on a small PostgreSQL server, what a
large one will need; then the large one is filled, driven by the real engine and store, and measured. What the model says about a
whole deployment: [scale](../explanation/scale.md). Raw results: [${FILES.raw}](${FILES.raw}), written by \`${command}\`.

## Where it misses

Of ${compared.length} predictions ${within} are within ${TOLERANCE * 100} %: neither more than ${1 + TOLERANCE} times the other.

${missed.length === 0 ? "None misses." : missed.map((line) => `- ${line}`).join("\n")}

## Predicted and measured

${comparedTable(compared)}

![States found in the process](${FILES.plot})

## Constants

${constantsTable(constants)}

*Warm*: the process knows the tenant and has its states cached. *Cold*: it has just started. An outcome is one run: a ranking of
${plan.shape.memories} candidates, ${plan.shape.shown} of them shown, and its end with a reward, in one commit of two entries; the default learner, requests of ${plan.shape.dims} values.

## As it grows

${growthTable(report)}

One process that meets all tenants, one after the other, after the traffic:

${memoryTable(report)}

It keeps up to 64 MiB of states in the store and as much decoded in the engine, and remembers some facts of 65,536 namespaces.

## How

- **Calibration.** ${whole(calibrated)} tenants on a server of their own, each with ${plan.shape.history} runs behind it: their tables are measured, then every tenant
  ends a run, in a new order each time: by a process that knows them, by the same right after a checkpoint, and by one that has just
  started. Nothing of it is fitted to the large server.
- **The large server.** The first eight tenants live through their history by the engine and the store. The others get the same rows
  by statements of SQL, each in another order of tenants, so that rows lie mixed. A copy equals its original, entry by entry and state by
  state, as the store reads it, and the store verifies its digests; a test holds that.
- **Traffic.** ${whole(plan.outcomes)} outcomes from ${plan.clients} clients of one process that has just started, tenants drawn by Zipf's law with exponent ${plan.exponent}, after a
  checkpoint. Then ${plan.rounds} rounds of ${rates.map(({ clients }) => clients).join(", ")} clients, ${plan.duration / 1_000} s each; the middle round.
- **Times and CPU** move with what else a machine does. So both servers run side by side, and the small one is measured again between the parts
  of the traffic and before each rate; those times, and no others of that moment, make the prediction. Bytes and counts are predicted
  before the large server is started.
- **CPU of the server** is that of all its processes, by the kernel's count; of the application, that of its process. Client and servers share the
  same two cores, so rates are those of a small machine.
- Cleaning up after the traffic (\`vacuum\`) took ${plain(vacuum.cpu / 1e6, 1)} s of CPU, ${plain(vacuum.seconds, 1)} s in all. It is off while something is measured: ${Object.entries(
    settings,
  )
    .map(([name, value]) => `\`${name} = ${value}\``)
    .join(", ")}. All else as PostgreSQL comes, \`fsync\` on, 128 MB of shared buffers.
- Machine: ${machineText(hardware, versions)}; ${date}. A load average above the number of cores means that other work took part of them.
`;
}

/** As many digits as a number of its size needs. */
export function number(value: number): string {
  if (Math.abs(value) >= 100) return whole(value);
  return plain(value, Math.abs(value) >= 10 ? 1 : 2);
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString("en");
}
