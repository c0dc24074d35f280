import { markdownTable, plain } from "../report/markdown-table.js";
import { type Capacity, keyBytes, monthlyPrice, plan } from "./capacity.js";
import type { Constants } from "./constants.js";
import { DEMAND, type Demand, MACHINES, type Machines, PRICES, type Prices } from "./parameters.js";
import { number, type ScaleReport, whole } from "./report.js";

/** Tables of docs/explanation/scale.md, by name. */
export function explanationTables({ constants }: Pick<ScaleReport, "constants">): Readonly<Record<string, string>> {
  const capacity = plan(constants, DEMAND, MACHINES);
  return {
    assumptions: assumptionsTable(DEMAND, MACHINES),
    constants: unitTable(constants),
    example: exampleTable(constants),
    shards: shardsTable(capacity),
    machines: machinesTable(capacity, MACHINES, PRICES),
    disk: diskTable(capacity, DEMAND),
    caches: cachesTable(constants),
    tenants: hotTable(constants),
    demands: demandsTable(constants),
  };
}

function assumptionsTable(demand: Demand, { database, app }: Machines): string {
  return markdownTable(
    ["assumed", "value"],
    [
      ["tenants, a namespace each", whole(demand.tenants)],
      ["memories that have learned something", whole(demand.memories)],
      ["outcomes per second, mean of the day, each with a ranking", whole(demand.outcomesPerSecond)],
      ["exponent of the traffic's Zipf law", plain(demand.exponent, 1)],
      ["memories of a tenant that its requests of a day come across", whole(demand.activeMemories)],
      ["days that runs are kept whole, then their keys only", whole(demand.keptDays)],
      ["seconds between checkpoints", whole(demand.checkpointSeconds)],
      [
        "a shard: cores, memory, disk",
        `${database.cores}, ${gib(database.memoryBytes)} GiB, ${tb(database.diskBytes)} TB`,
      ],
      [
        "of them in use, at most",
        `${percent(database.use)}, ${percent(database.memoryUse)}, ${percent(database.diskUse)}`,
      ],
      ["log that its disk takes, MB/s", whole(database.logBytesPerSecond / 1e6)],
      ["machines per shard, replica included", whole(database.copies)],
      ["an application process: a core, used at most", percent(app.use)],
      ["its cache of states, MiB", whole(app.cacheBytes / 2 ** 20)],
    ],
  );
}

function unitTable(constants: Constants): string {
  const { contents, warm, cold, image, shared } = constants;
  const { bytes } = contents;
  return markdownTable(
    ["per", "disk bytes", "log bytes", "server µs", "application µs", "round trips"],
    [
      ["namespace", whole(bytes.namespace), "", "", "", ""],
      ["memory", whole(bytes.memory), "", "", "", ""],
      [
        "outcome, states cached",
        whole(bytes.run),
        whole(warm.walBytes),
        whole(warm.database),
        whole(warm.app),
        number(warm.asked.roundTrips),
      ],
      [
        "outcome, nothing known",
        whole(bytes.run),
        whole(cold.walBytes),
        whole(cold.database),
        whole(cold.app),
        number(cold.asked.roundTrips),
      ],
      [
        "outcome, 50 callers of one tenant",
        whole(bytes.run),
        whole(shared.walBytes),
        whole(shared.database),
        whole(shared.app),
        number(shared.asked.roundTrips),
      ],
      ["key of an entry that was compacted", whole(keyBytes(constants)), "", "", "", ""],
      ["page's first change after a checkpoint", "", whole(image.bytes), whole(image.cpu), "", ""],
    ],
  );
}

/** A small product, by hand. */
const EXAMPLE = { tenants: 500, memories: 1_000_000, outcomesPerSecond: 50 };

function exampleTable({ contents: { bytes }, warm, image }: Constants): string {
  const { tenants, memories, outcomesPerSecond } = EXAMPLE;
  const states = memories * bytes.memory + tenants * bytes.namespace;
  const perDay = outcomesPerSecond * 86_400 * bytes.run;
  // What an outcome touches: five memories, the collection, the counts, the head, a leaf of each index.
  const pages = 11;
  const log = warm.walBytes + pages * image.bytes;
  const share = (micros: number): string => `${plain((outcomesPerSecond * micros) / 1e4, 0)} % of a core`;
  const active = DEMAND.activeMemories * tenants * bytes.memory;
  return markdownTable(
    ["question", "calculation", "answer"],
    [
      [
        "disk for what was learned",
        `${whole(memories)} × ${whole(bytes.memory)} + ${tenants} × ${whole(bytes.namespace)} bytes`,
        `${plain(states / 1e9, 1)} GB`,
      ],
      [
        "disk per day for runs",
        `${outcomesPerSecond} × 86,400 × ${whole(bytes.run)} bytes`,
        `${plain(perDay / 1e9, 1)} GB`,
      ],
      ["CPU of the server", `${outcomesPerSecond} × ${whole(warm.database)} µs per second`, share(warm.database)],
      ["CPU of the application", `${outcomesPerSecond} × ${whole(warm.app)} µs per second`, share(warm.app)],
      [
        "log, at most",
        `${outcomesPerSecond} × (${whole(warm.walBytes)} + ${pages} pages × ${whole(image.bytes)}) bytes`,
        `${plain((outcomesPerSecond * log) / 1e6, 1)} MB/s`,
      ],
      [
        "memory to cache what a day touches",
        `${tenants} × ${DEMAND.activeMemories} memories × ${whole(bytes.memory)} bytes`,
        `${whole(active / 1e6)} MB`,
      ],
    ],
  );
}

function shardsTable({ resources }: Capacity): string {
  return markdownTable(
    ["runs out", "needed", "of one shard", "unit", "shards"],
    resources.map(({ name, needed, perShard, unit, shards }) => [
      name,
      number(needed),
      number(perShard),
      unit,
      plain(shards, 1),
    ]),
  );
}

function machinesTable(capacity: Capacity, machines: Machines, prices: Prices): string {
  const { database } = machines;
  const servers = capacity.shards * database.copies;
  const cores = servers * database.cores + capacity.processes;
  const memory =
    servers * database.memoryBytes + capacity.processes * (machines.app.cacheBytes + machines.app.otherBytes);
  const disk = servers * database.diskBytes;
  return markdownTable(
    ["", "number"],
    [
      ["shards", whole(capacity.shards)],
      ["database machines", whole(servers)],
      ["application processes", whole(capacity.processes)],
      ["connections to each shard", whole(capacity.connectionsPerShard)],
      ["cores in all", whole(cores)],
      ["cores that are busy in all", whole(capacity.appCores + capacity.databaseCores)],
      ["memory in all, GiB", whole(memory / 2 ** 30)],
      ["disk in all, TB", whole(disk / 1e12)],
      [
        `per month, at ${prices.core} a core, ${prices.gibibyte} a GiB, ${prices.terabyte} a TB`,
        whole(monthlyPrice(capacity, machines, prices)),
      ],
    ],
  );
}

function diskTable({ disk, workingSet }: Capacity, { keptDays, keysDays }: Demand): string {
  return markdownTable(
    ["", "TB"],
    [
      ["states of memories and namespaces", size(disk.states)],
      ["the same again, where compacted ledgers begin", size(disk.checkpoints)],
      ["runs, per day", size(disk.perDay)],
      ["given back by compaction, per day", size(disk.givenBackPerDay)],
      ["keys that stay, per day", size(disk.keysPerDay)],
      [`runs of ${keptDays} days`, size(keptDays * disk.perDay)],
      [`keys of the ${keysDays} days before`, size(keysDays * disk.keysPerDay)],
      ["all of it, after a year", size(disk.total)],
      ["pages that traffic comes back to within an hour", size(workingSet)],
    ],
  );
}

const CACHES = [64, 256, 512, 2_048].map((mebibytes) => mebibytes * 2 ** 20);

function cachesTable(constants: Constants): string {
  return markdownTable(
    ["cache per process, MiB", "states found in it", "processes", "busy server cores"],
    CACHES.map((cacheBytes) => {
      const machines = { ...MACHINES, app: { ...MACHINES.app, cacheBytes } };
      const { cached, processes, databaseCores } = plan(constants, DEMAND, machines);
      return [whole(cacheBytes / 2 ** 20), percent(cached), whole(processes), plain(databaseCores, 1)];
    }),
  );
}

const EXPONENTS = [0, 0.8, 1, 1.2];

function hotTable(constants: Constants): string {
  return markdownTable(
    [
      "exponent of the traffic",
      "busiest tenant, outcomes/s",
      "most that one tenant can have",
      "tenants above half of that",
    ],
    EXPONENTS.map((exponent) => {
      const { hot } = plan(constants, { ...DEMAND, exponent }, MACHINES);
      return [plain(exponent, 1), number(hot.busiest), whole(hot.ceiling), whole(hot.near)];
    }),
  );
}

const RATES = [100, 1_000, 10_000, 30_000];

function demandsTable(constants: Constants): string {
  return markdownTable(
    ["outcomes per second", "memories", "shards", "first to run out", "application processes", "TB per day"],
    RATES.map((outcomesPerSecond) => {
      const memories = (DEMAND.memories * outcomesPerSecond) / DEMAND.outcomesPerSecond;
      const demand = { ...DEMAND, outcomesPerSecond, memories, tenants: (DEMAND.tenants * memories) / DEMAND.memories };
      const { shards, resources, processes, disk } = plan(constants, demand, MACHINES);
      return [
        whole(outcomesPerSecond),
        whole(memories),
        whole(shards),
        resources[0]?.name ?? "",
        whole(processes),
        size(disk.perDay),
      ];
    }),
  );
}

const gib = (bytes: number): string => whole(bytes / 2 ** 30);
const tb = (bytes: number): string => whole(bytes / 1e12);
const size = (bytes: number): string => plain(bytes / 1e12, 2);
const percent = (share: number): string => `${Math.round(share * 100)} %`;
