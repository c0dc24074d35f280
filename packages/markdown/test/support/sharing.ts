import { DatabaseSync } from "node:sqlite";

const version = String(new DatabaseSync(":memory:").prepare("SELECT sqlite_version() AS version").get()?.version);
const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);

/** True where SQLite lets several connections share a file: 3.51.3 or newer. */
export const SHARES_FILES: boolean = major * 1e6 + minor * 1e3 + patch >= 3_051_003;
