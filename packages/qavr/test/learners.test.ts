import { type Learner, oar } from "@qavr/core";
import { oar1, rocchio } from "@qavr/learners";
import { describe, expect, it } from "vitest";
import { ledgerFile } from "./support/ledgers.js";
import { dataOf } from "./support/run.js";

describe("a ledger whose learner has options", () => {
  it.each([
    oar({ halfLife: 30 * 86_400_000 }),
    oar1({ setting: "guard", halfLife: 1e21 }),
    rocchio({ feedback: "reward" }),
  ])("is read and checked where the id tells them: $id", async (learner) => {
    const path = await ledgerFile({ runs: 5 }, { learner: learner as Learner });
    expect(await dataOf("status", "-s", path)).toMatchObject({ learner: learner.id, memories: expect.anything() });
    expect(await dataOf("why", "d0", "-s", path)).toMatchObject({ kind: "memory", memory: { id: "d0" } });
    expect(await dataOf("ledger", "verify", "-s", path)).toMatchObject({ ok: true });
  });
});
