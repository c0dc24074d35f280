import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { DamageReport } from "./damage-report.js";
import { ledgerDigests } from "./ledger-digests.js";

const digests = ledgerDigests((bytes) => createHash("sha256").update(bytes).digest());

describe("a report of damage", () => {
  it("counts all of it, and names the first hundred", () => {
    const report = new DamageReport();
    report.add(...Array.from({ length: 90 }, (_, i) => ({ problem: `one ${i}` })));
    report.add(...Array.from({ length: 90 }, (_, i) => ({ problem: `other ${i}` })));
    report.attempt(() => {
      throw new Error("what the look stumbles over");
    });
    const { damaged, damage } = report.result(digests);
    expect([damaged, damage.length, damage[99]?.problem]).toEqual([181, 100, "other 9"]);
  });

  it("has the digest of one namespace that was asked for, also of one that is not there", () => {
    const report = new DamageReport();
    const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
    expect(report.result(digests, "n").digest).toBe(hex(digests.first("n")));
    report.addNamespace(digests.of(Uint8Array.of(1)));
    expect(report.result(digests, "n").digest).toBe(hex(digests.of(Uint8Array.of(1))));
    expect(report.result(digests)).toMatchObject({
      namespaces: 1,
      digest: hex(digests.all([digests.of(Uint8Array.of(1))])),
    });
  });
});
