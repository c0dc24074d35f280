import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeStore } from "@qavr/store-conformance";
import { fileStore } from "./file-store.js";

describeStore({
  name: "file",
  createBackend() {
    const folder = mkdtempSync(join(tmpdir(), "qavr-file-store-"));
    return {
      open: () => fileStore(join(folder, "ledger")),
      destroy: () => rmSync(folder, { recursive: true }),
    };
  },
});
