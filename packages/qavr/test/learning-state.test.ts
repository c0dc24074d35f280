import { oar, qValue } from "@qavr/core";
import { expect, it } from "vitest";
import { ledgerFile } from "./support/ledgers.js";
import { qavr } from "./support/run.js";

it.each([
  [oar(), "runs in the host's order are drawn after 300 outcomes, or with the option holdout."],
  [qValue(), "runs in the host's order are drawn with the option holdout."],
])("qavr status says when $id draws runs in the host's order", async (learner, when) => {
  const { stdout } = await qavr("status", "-s", await ledgerFile({ runs: 20 }, { learner }));
  expect(stdout).toContain(`Lift is not measured yet: ${when}`);
});
