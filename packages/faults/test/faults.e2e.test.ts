import { describe, expect, it } from "vitest";
import { brokenFiles } from "../src/harness/broken-files.js";
import type { Harness } from "../src/harness/check.js";
import { clockWalks } from "../src/harness/clock-walks.js";
import { damagedRows } from "../src/harness/damaged-rows.js";
import { fullDisk, ioErrors } from "../src/harness/disk-faults.js";
import { exactCounts } from "../src/harness/exact-counts.js";
import { kills } from "../src/harness/kills.js";
import { migrations } from "../src/harness/migrations.js";
import { powerCuts } from "../src/harness/power-cuts.js";
import { promotion } from "../src/harness/promotion.js";
import { schedules } from "../src/harness/schedules.js";
import { serverKills } from "../src/harness/server-kills.js";
import { serverMigrations } from "../src/harness/server-migrations.js";
import { unreachableServer } from "../src/harness/unreachable-server.js";

/** Memory bounds need a process of their own, whose garbage can be collected: `pnpm faults`. */
const harnesses: readonly Harness[] = [
  kills,
  serverKills,
  promotion,
  exactCounts,
  unreachableServer,
  powerCuts,
  fullDisk,
  ioErrors,
  brokenFiles,
  damagedRows,
  migrations,
  serverMigrations,
  clockWalks,
  schedules,
];
const possible = harnesses.filter(({ obstacle }) => obstacle?.() === undefined);

describe("promises about faults", () => {
  it.each(possible)("hold, and their deliberate faults are found: $name", async ({ run }) => {
    const results = await run("quick");
    expect(results.length).toBeGreaterThan(0);
    for (const result of results) expect(result).toMatchObject({ held: true });
  });
});
