import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeStore } from "@qavr/store-conformance";
import { sqliteStore } from "../src/index.js";

describeStore({
  name: "sqlite",
  createBackend() {
    const folder = mkdtempSync(join(tmpdir(), "qavr-sqlite-"));
    return {
      open: () => sqliteStore(join(folder, "ledger.db")),
      destroy: () => rmSync(folder, { recursive: true }),
    };
  },
});

describeStore({ name: "sqlite in memory", createBackend: () => ({ open: () => sqliteStore(":memory:") }) });
