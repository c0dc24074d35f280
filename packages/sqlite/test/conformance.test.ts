import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeStore } from "@qavr/store-conformance";
import { sqliteStore } from "../src/index.js";
import { damage } from "./support/tamper.js";

describeStore({
  name: "sqlite",
  createBackend() {
    const folder = mkdtempSync(join(tmpdir(), "qavr-sqlite-"));
    return {
      open: () => sqliteStore(join(folder, "ledger.db")),
      damage: (part) => damage(join(folder, "ledger.db"), part),
      destroy: () => rmSync(folder, { recursive: true }),
    };
  },
});

describeStore({ name: "sqlite in memory", createBackend: () => ({ open: () => sqliteStore(":memory:") }) });
