import { QavrError } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { countIn, counting, tally } from "../../../core/test/support/counting.js";
import { sqliteStore } from "../../src/index.js";
import { interceptSqlite } from "../support/fault-injection.js";
import { SHARES_FILES } from "../support/sharing.js";
import { tempLedger } from "../support/temp-folder.js";

// A process that looked at the header before, and at the tables after another one had created the ledger took it for the
// database of another application.
describe.runIf(SHARES_FILES)("opening a ledger", () => {
  it("succeeds at whatever moment another process creates it", async () => {
    let step = 0;
    for (let met = true; met; step++) {
      const path = tempLedger();
      let calls = 0;
      met = false;
      const restore = interceptSqlite((run) => {
        if (calls++ === step && !met) {
          met = true;
          createElsewhere(path);
        }
        return run();
      });
      const store = sqliteStore(path);
      restore();
      await store.commit("n", [tally("a")], counting);
      expect(await countIn(store)).toBe(1);
      await store.close();
    }
    expect(step).toBeGreaterThan(15);
  });
});

/** Another handle that opens the ledger and goes away; it gives up when the first one holds the lock. */
function createElsewhere(path: string): void {
  try {
    void sqliteStore({ path, busyTimeout: 0 }).close();
  } catch (error) {
    if (!QavrError.isInstance(error, "STORE_BUSY")) throw error;
  }
}
