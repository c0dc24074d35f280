import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasCitus } from "./packages/postgres-server/src/has-citus.ts";

/** The temporary folder of this run's tests. */
let folder: string;

/** Linux keeps files in memory here. */
const MEMORY = "/dev/shm";
/** Several times as much as all tests have at once. In bytes. */
const ROOM = 4 * 1024 ** 3;

/**
 * The folder for temporary files: in memory where there is room and programs may run, because tests unpack some. Tests of stores would
 * spend half of their time waiting for the disk. Continuous integration runs them on the disk.
 */
function temporary(): string {
  if (process.env.CI || process.env.TMPDIR !== undefined || !existsSync("/proc/mounts")) return tmpdir();
  const isMounted = new RegExp(`^\\S+ ${MEMORY} \\S+ (?!\\S*noexec)`, "m").test(readFileSync("/proc/mounts", "utf8"));
  if (!isMounted) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize > ROOM ? MEMORY : tmpdir();
}

export function setup(): void {
  if (!hasCitus()) {
    process.stdout.write(
      "Citus was not found, so tests of shards and of an older PostgreSQL do not run. QAVR_CITUS_BIN names the folder of its programs.\n",
    );
  }
  folder = mkdtempSync(join(temporary(), "qavr-tests-"));
  // PostgreSQL servers run as another user when tests run as root.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
  // Programs that tests start load the same frameworks again and again.
  process.env.NODE_COMPILE_CACHE = join(folder, "compiled");
}

/** Removes also the files of stores that a test cannot close. A process that ends may still add a file meanwhile. */
export function teardown(): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
