import type { Engine } from "@qavr/core";
import { seededRandom, shuffle } from "../random/seeded-random.js";
import type { Constants, CostPair, Latencies } from "./constants.js";
import { fillTenants } from "./fill.js";
import { type LookedUp, type Lookup, measureLookups } from "./lookup.js";
import { type Cost, type Latency, measureLatency, measurePass, measureRate } from "./pass.js";
import { contentsOf, droppedEntryBytes } from "./row-bytes.js";
import type { ServerMeter } from "./server-meter.js";
import type { ServerPool } from "./tenant-engine.js";
import { createRuns, type Runs, type TenantShape, tenantName } from "./tenants.js";

export interface CalibrationOptions {
  readonly schema: string;
  readonly tenants: number;
  readonly shape: TenantShape;
  /** That work at the same time. */
  readonly clients: number;
}

const SEED = 71;

/** Outcomes of one tenant that wait for each other. */
export const TOGETHER = 50;

/** Few tenants on a server of their own, visited evenly, and what can be measured of them again at any moment. */
export interface Calibration {
  readonly constants: Constants;
  costs(): Promise<CostPair>;
  latencies(outcomes: number): Promise<Latencies>;
  /** Outcomes per second in a process that knows all tenants. */
  rate(clients: number, duration: number): Promise<number>;
  shared(outcomes: number): Promise<Cost>;
  /** For look-ups beside those of another server. */
  readonly kept: LookedUp;
  readonly evicted: LookedUp;
}

/**
 * Fills a small plant and measures what the model needs: the first outcomes of all tenants, outcomes in a process that knows them,
 * the same right after a checkpoint, and in a process that knows none.
 */
export async function calibrate(
  meter: ServerMeter,
  server: ServerPool,
  { schema, tenants, shape, clients }: CalibrationOptions,
): Promise<Calibration> {
  const { client } = meter;
  const runs: Runs = createRuns(shape, SEED);
  const next = everyTenant(tenants);
  const pass = (engine: Engine, outcomes = tenants): Promise<Cost> =>
    measurePass(meter, engine, runs, server.asked, { outcomes, clients, next });

  await fillTenants(server.store(), client, schema, { from: 0, to: tenants, shape });
  await settle(meter);
  const contents = await contentsOf(meter, schema);
  await client.query("create extension if not exists pg_buffercache");
  const kept: LookedUp = { meter, server, schema, tenants, evict: false };
  const afresh: LookedUp = { ...kept, evict: true };
  const [evicted] = await measureLookups([afresh], shape);
  const [lookup] = await measureLookups([kept], shape);

  const engine = server.engine();
  await setImages(meter, false);
  const first = await pass(engine);
  await setImages(meter, true);
  // What moves moves now.
  await pass(engine);
  const warm = await pass(engine);
  const cold = await pass(server.engine());
  await hangUp(meter, server);
  const { images: before } = await meter.wal();
  // Prepares its statements again; every page that it changes was in the log before.
  await pass(engine);
  await client.query("checkpoint");
  const imaged = await pass(engine);
  await hangUp(meter, server);
  const images = ((await meter.wal()).images - before) / tenants;
  const together = (outcomes: number): Promise<Cost> =>
    measurePass(meter, engine, runs, server.asked, { outcomes, clients: TOGETHER, next: () => 0 });
  await together(TOGETHER);
  await engine.compact({ namespace: tenantName(0), olderThan: 0 });
  const droppedEntry = await droppedEntryBytes(meter, schema);
  const shared = await together(tenants);
  return {
    constants: {
      contents,
      warm,
      cold,
      firstWal: first.walBytes,
      shared,
      droppedEntry,
      lookup: lookup as Lookup,
      evicted: evicted as Lookup,
      image: {
        bytes: (imaged.walBytes - warm.walBytes) / images,
        cpu: Math.max(0, (imaged.database - warm.database) / images),
      },
    },
    async costs() {
      const some = Math.ceil(tenants / 4);
      // What the other server has pushed out of the processor's caches comes back.
      await pass(engine, some);
      const warm = await pass(engine, 2 * some);
      const cold = await pass(server.engine(), 2 * some);
      return { warm, cold };
    },
    async latencies(outcomes) {
      const of = (one: Engine): Promise<Latency> => measureLatency(one, runs, { outcomes, next });
      return { warm: await of(engine), cold: await of(server.engine()) };
    },
    rate: (count, duration) => measureRate(engine, runs, { clients: count, duration, next }),
    shared: (outcomes) => together(outcomes),
    kept,
    evicted: afresh,
  };
}

/** Whether pages that change for the first time after a checkpoint go into the log as a whole. */
async function setImages({ client }: ServerMeter, on: boolean): Promise<void> {
  await client.query(`alter system set full_page_writes = ${on ? "on" : "off"}`);
  await client.query("select pg_reload_conf()");
}

/** Sets what readers would set otherwise, each at its own time, and begins a new part of the log. */
export async function settle({ client }: ServerMeter): Promise<void> {
  await client.query("vacuum (freeze, analyze)");
  await client.query("checkpoint");
}

/** Ends all sessions, which then tell what they have counted. */
export async function hangUp(meter: ServerMeter, server: ServerPool): Promise<void> {
  await server.reconnect();
  await meter.alone();
}

/** All tenants, in another order each time. */
function everyTenant(tenants: number): () => number {
  const random = seededRandom(SEED);
  let waiting: number[] = [];
  return () => {
    if (waiting.length === 0)
      waiting = shuffle(
        Array.from({ length: tenants }, (_, place) => place),
        random,
      );
    return waiting.pop() as number;
  };
}
