import { POSTGRES_DEFAULTS } from "@qavr/postgres";
import { startServer } from "@qavr/postgres-server";
import { calibrate } from "./calibrate.js";
import { compare, foretell } from "./comparison.js";
import { inMood } from "./constants.js";
import type { ScalePlan } from "./plans.js";
import type { Plant } from "./prediction.js";
import type { ScaleReport } from "./report.js";
import { meterServer, type ServerMeter } from "./server-meter.js";
import { simulate } from "./simulate.js";
import { openPool, type ServerPool } from "./tenant-engine.js";
import { zipfShares } from "./zipf.js";

/** Nothing that works by itself at moments of its own: what is counted then belongs to the outcomes. */
export const SETTINGS: Readonly<Record<string, string>> = {
  autovacuum: "off",
  checkpoint_timeout: "1h",
  max_wal_size: "64GB",
};

/** `shared_buffers` as PostgreSQL comes. */
const BUFFER_BYTES = 128 * 2 ** 20;

export interface ScaleOptions {
  /** Of both servers, on top of {@link SETTINGS}. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly onProgress?: (what: string, share: number) => void;
}

/** Calibrates a small plant, predicts a large one, and measures it. */
export async function measureScale(
  scale: ScalePlan,
  { settings = {}, onProgress = () => {} }: ScaleOptions = {},
): Promise<Pick<ScaleReport, "constants" | "foretold" | "compared" | "simulation" | "beside">> {
  const { exponent, calibrated, ...plan } = scale;
  const tenants = plan.sizes.at(-1) as number;
  const shares = zipfShares(tenants, exponent);
  const { shape, schema, clients } = plan;
  const plant: Plant = {
    tenants,
    shape,
    shares,
    cacheBytes: POSTGRES_DEFAULTS.cacheBytes,
    bufferBytes: BUFFER_BYTES,
  };
  return withServer(schema, settings, async (smallMeter, smallServer) => {
    onProgress("calibrating", 0);
    const small = await calibrate(smallMeter, smallServer, { schema, tenants: calibrated, shape, clients });
    onProgress("calibrating", 1);
    const { constants } = small;
    const foretold = foretell(constants, plant, { ...plan, shares }, POSTGRES_DEFAULTS.partitions);
    return withServer(schema, settings, async (meter, server) => {
      const { simulation, beside } = await simulate(meter, server, { ...plan, shares }, small, onProgress);
      const compared = compare(constants, plant, { ...plan, shares }, foretold, simulation, beside);
      return { constants: inMood(constants, beside.costs), foretold, compared, simulation, beside };
    });
  });
}

/** Starts a server, and ends it whatever happens. */
async function withServer<Result>(
  schema: string,
  settings: Readonly<Record<string, string>>,
  work: (meter: ServerMeter, server: ServerPool) => Promise<Result>,
): Promise<Result> {
  const running = await startServer({ settings: { ...SETTINGS, ...settings } });
  const meter = await meterServer(running.url());
  const server = openPool(running.url(), schema);
  try {
    return await work(meter, server);
  } finally {
    await server.close();
    await meter.close();
    await running.stop();
  }
}
