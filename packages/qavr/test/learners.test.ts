import { type Learner, oar, qValue } from "@qavr/core";
import { verify } from "@qavr/core/maintenance";
import { oar1, rocchio } from "@qavr/learners";
import { sqliteStore } from "@qavr/sqlite";
import { describe, expect, it } from "vitest";
import { appEngine, ledgerFile, newPath } from "./support/ledgers.js";
import { dataOf, qavr } from "./support/run.js";

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

  it("is not called damaged, nor built again by default options, where the id does not tell them", async () => {
    const learner = qValue({ learningRate: 0.5 }) as Learner;
    const path = await ledgerFile({ runs: 60 }, { learner });
    expect((await qavr("doctor", "-s", path)).stdout).not.toContain("ledger-damage");
    expect(await dataOf("ledger", "verify", "-s", path)).toMatchObject({
      differing: [],
      unchecked: [{ namespace: "default", reason: "LEARNER_MISMATCH" }],
    });
    for (const command of [
      ["ledger", "repair"],
      ["ledger", "compact", "--older-than", "0", "--yes"],
      ["ledger", "move", "--to", newPath()],
      ["revoke", "--source", "checker", "--yes"],
    ]) {
      const { exitCode, stderr } = await qavr(...command, "-s", path);
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 5, stderr: expect.stringContaining("default options") });
    }
    const engine = appEngine(sqliteStore(path), { learner });
    expect(await verify(engine)).toMatchObject({ ok: true });
    await engine.close();
  });

  it("is repaired where the id does not tell them, and they are the default ones", async () => {
    const path = await ledgerFile({ runs: 60 }, { learner: qValue() as Learner });
    expect(await dataOf("ledger", "repair", "-s", path)).toMatchObject({ after: { ok: true } });
    expect(await dataOf("revoke", "--source", "checker", "--yes", "-s", path)).toMatchObject({ outcomes: 60 });
    expect(await dataOf("ledger", "verify", "-s", path)).toMatchObject({ ok: true });
  });
});

it("eval takes a learner's id, as status prints it, beside its name", async () => {
  const path = await ledgerFile({ runs: 5 });
  const { learner } = (await dataOf("status", "-s", path)) as { learner: string };
  for (const id of [learner, "oar@2/half-life-86400000", "success-rate@1"]) {
    expect(await dataOf("eval", "--learner", id, "-s", path)).toMatchObject({ learner: id });
  }
  expect(await qavr("eval", "--learner", "oar@9", "-s", path)).toMatchObject({ exitCode: 4 });
});
