import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rendezvous, routedStore } from "@qavr/core/store";
import { describeStore } from "@qavr/store-conformance";
import { sqliteStore } from "../src/index.js";

const NAMES = ["a", "b", "c"];

describeStore({
  name: "routed over three sqlite",
  createBackend() {
    const folder = mkdtempSync(join(tmpdir(), "qavr-sqlite-"));
    return {
      open: () =>
        routedStore({
          stores: Object.fromEntries(NAMES.map((name) => [name, sqliteStore(join(folder, `${name}.db`))])),
          by: rendezvous(NAMES),
        }),
      destroy: () => rmSync(folder, { recursive: true }),
    };
  },
});
