import { backups } from "./backups.js";
import { bounds } from "./bounds.js";
import { brokenFiles } from "./broken-files.js";
import { brokenLogs } from "./broken-logs.js";
import { cancellations } from "./cancellations.js";
import type { Harness } from "./check.js";
import { clockWalks } from "./clock-walks.js";
import { clusterKills } from "./cluster-kills.js";
import { contention } from "./contention.js";
import { damagedHeads } from "./damaged-heads.js";
import { damagedRows } from "./damaged-rows.js";
import { fullDisk, ioErrors } from "./disk-faults.js";
import { embeddingChanges } from "./embedding-changes.js";
import { exactCounts } from "./exact-counts.js";
import { kills } from "./kills.js";
import { liveMaintenance } from "./live-maintenance.js";
import { memoryKills } from "./memory-kills.js";
import { namespaceMoves } from "./namespace-moves.js";
import { powerCuts } from "./power-cuts.js";
import { procedureKills } from "./procedure-kills.js";
import { promotion } from "./promotion.js";
import { revocations } from "./revocations.js";
import { schedules } from "./schedules.js";
import { serverCompactions } from "./server-compactions.js";
import { serverKills } from "./server-kills.js";
import { soak } from "./soak.js";
import { tenants } from "./tenants.js";
import { turningOver } from "./turning-over.js";
import { unreachableServer } from "./unreachable-server.js";

/** All of them, in the order of the results. */
export const HARNESSES: readonly Harness[] = [
  kills,
  memoryKills,
  procedureKills,
  serverKills,
  serverCompactions,
  promotion,
  clusterKills,
  turningOver,
  namespaceMoves,
  exactCounts,
  unreachableServer,
  powerCuts,
  fullDisk,
  ioErrors,
  brokenFiles,
  brokenLogs,
  damagedHeads,
  damagedRows,
  clockWalks,
  schedules,
  contention,
  backups,
  tenants,
  cancellations,
  embeddingChanges,
  revocations,
  liveMaintenance,
  bounds,
  soak,
];
