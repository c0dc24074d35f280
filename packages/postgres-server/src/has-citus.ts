import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A packed PostgreSQL with Citus, for Linux on x64, beside the checkout. */
export const PACKED_CITUS: string = fileURLToPath(
  new URL("../../../../shared/citus/postgresql-15.18-citus-13.2.2-linux-x64.tar.xz", import.meta.url),
);

/** True where a cluster can be started: the variable `QAVR_CITUS_BIN` names a folder of programs, or they are beside the checkout. */
export function hasCitus(): boolean {
  return process.env.QAVR_CITUS_BIN !== undefined || existsSync(PACKED_CITUS);
}
