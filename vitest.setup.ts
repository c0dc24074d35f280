import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasCitus } from "./packages/postgres-server/src/has-citus.ts";

/** The temporary folder of this run's tests. */
let folder: string;

export function setup(): void {
  if (!hasCitus()) {
    process.stdout.write(
      "Citus was not found, so tests of shards and of an older PostgreSQL do not run. QAVR_CITUS_BIN names the folder of its programs.\n",
    );
  }
  folder = mkdtempSync(join(tmpdir(), "qavr-tests-"));
  // PostgreSQL servers run as another user when tests run as root.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
  // Programs that tests start load the same frameworks again and again.
  process.env.NODE_COMPILE_CACHE = join(folder, "compiled");
}

/** Removes also the files of stores that a test cannot close. */
export function teardown(): void {
  rmSync(folder, { recursive: true, force: true });
}
