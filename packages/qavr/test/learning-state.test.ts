import { memoryStore, type NamespaceStatus, oar, qValue } from "@qavr/core";
import { governance } from "@qavr/core/governance";
import { sqliteStore } from "@qavr/sqlite";
import { expect, it } from "vitest";
import { stateOf } from "../src/reports/learning-state.js";
import type { StatusReport } from "../src/reports/status.js";
import { appEngine, ledgerFile, newLedger, newPath, oneRun } from "./support/ledgers.js";
import { dataOf, qavr } from "./support/run.js";

it.each([
  [
    oar(),
    "runs in the host's order are drawn after 300 outcomes of a collection, where searches find judged memories again, or with the option holdout.",
  ],
  [qValue(), "runs in the host's order are drawn with the option holdout."],
])("qavr status says when $id draws runs in the host's order", async (learner, when) => {
  const { stdout } = await qavr("status", "-s", await ledgerFile({ runs: 20 }, { learner }));
  expect(stdout).toContain(`Lift is not measured yet: ${when}`);
});

it("qavr status does not say of a cold namespace that rankings stay near the host's order, which one failure changes", async () => {
  const { path, engine } = newLedger();
  const candidates = ["a", "b"].map((id, i) => ({ id, similarity: 1 - i / 50 }));
  for (let run = 0; run < 3; run++) {
    await oneRun(engine, { candidates, topK: 1, vector: [1, 0] }, { reward: run > 0, tier: "verified" });
  }
  expect((await engine.rank({ candidates, topK: 1, vector: [1, 0] })).items[0]?.id).toBe("b");
  await engine.close();
  const { stdout } = await qavr("status", "-s", path);
  expect(stdout).toMatch(/^Cold: 3 runs have taught so far\. Expect little gain yet\. Lift/);
});

it.each([
  [
    "learning",
    "a new context beside 150 runs that named none",
    oar(),
    (run: number) => (run < 150 ? undefined : "deploy"),
  ],
  ["learning", "four contexts that teach each other", oar(), (run: number) => `task ${run % 4}`],
  ["cold", "four contexts that a learner keeps apart", qValue(), (run: number) => `task ${run % 4}`],
  ["learning", "one of them beside 150 runs", qValue(), (run: number) => (run < 150 ? undefined : "deploy")],
])("qavr status calls a namespace %s after 160 runs: %s", async (level, _, learner, contextOf) => {
  const engine = appEngine(memoryStore(), { learner });
  for (let run = 0; run < 160; run++) {
    const candidates = ["a", "b"].map((id, i) => ({ id, similarity: 1 - i / 50 }));
    const { episode } = await engine.rank({ context: contextOf(run), candidates, topK: 1, vector: [1, 0] });
    await engine.end(episode, { reward: run % 2, tier: "verified" });
  }
  const status = await engine.status();
  expect(status.contexts.map(({ state }) => state)).not.toContain("warm");
  expect(stateOf(status)).toMatchObject({ level, sentence: expect.stringMatching(/160 runs have taught/) });
});

const LIFT = { episodes: { learned: 60, holdout: 9, needed: 50 }, lift: "not enough" };
const collections = (...controls: number[]) =>
  controls.map((drawn, i) => ({ collection: `c${i}`, learner: { controls: drawn } }));
const HARM = { difference: -0.2, low: -0.3, high: -0.1 };

it.each([
  ["is learning from 100 runs on", { taught: 100 }, /^Learning: 100 runs have taught\. Lift/],
  ["is cold before", { taught: 99 }, /^Cold: 99 runs have taught so far\. /],
  [
    "has too few unjudged runs for the doctor",
    { episodes: { recorded: 49 }, taught: 0 },
    /report how it went: evaluate/,
  ],
  ["has enough of them", { episodes: { recorded: 50 }, taught: 0 }, /^Not learning: 50 .* Run npx qavr doctor\.$/],
  ["counts the first run as one", { taught: 1 }, /^Cold: 1 run has taught so far\. /],
  [
    "harms, however cold",
    { taught: 99, lift: { ...LIFT, lift: HARM } },
    /^Learning harms: .* −20\.0 points .* Run npx qavr doctor\.$/,
  ],
  ["does not harm for sure", { lift: { ...LIFT, lift: { ...HARM, high: 0 } } }, /^Learning: /],
  ["names no number of one context", { contexts: [{ state: "warm" }] }, /^Learning: 200 runs have taught\. /],
  [
    "of the first contexts",
    { otherContexts: 1, contexts: [{ state: "warm" }, {}] },
    /, 1 of the first 2 contexts warm\./,
  ],
  ["of all its contexts", { contexts: [{ state: "warm" }, {}] }, /, 1 of 2 contexts warm\./],
  ["learns where one is warm", { taught: 60, contexts: [{ state: "warm" }] }, /^Learning: 60 runs have taught\. /],
  [
    "tells the worth of memory, once it is measured",
    { memoryLift: { episodes: { shown: 200, off: 60, needed: 50 }, lift: { difference: 0.1, low: 0.02, high: 0.18 } } },
    / Memory itself is worth \+10\.0 points \(\+2\.0 … \+18\.0, 60 runs without memories\)\.$/,
  ],
  [
    "tells what the worth of memory still needs",
    { memoryLift: { episodes: { shown: 200, off: 9, needed: 50 }, lift: "not enough" } },
    / The worth of memory needs 50 judged runs on each side: 200 with memories, 9 without so far\.$/,
  ],
  ["draws more while a collection does", { lift: LIFT, collections: collections(0, 0.3) }, /9 held out so far\.$/],
  ["names idle collections", { collections: collections(0.3, 0.6) }, /than the host's so far in c1\. /],
])("a namespace %s", (_, fields, sentence) => {
  const status = {
    learner: "oar@2",
    episodes: { recorded: 300 },
    taught: 200,
    contexts: [],
    collections: [],
    ...fields,
  };
  const state = stateOf(status as unknown as NamespaceStatus);
  expect(state.sentence).toMatch(sentence);
  expect(state.level === "harming").toBe(state.sentence.startsWith("Learning harms"));
});

it("qavr status names what the draw waits for where many runs never found a memory again", async () => {
  const { path, engine } = newLedger();
  for (let run = 0; run < 310; run++) {
    const candidates = ["a", "b"].map((name, i) => ({ id: `${name}${run}`, similarity: 1 - i / 50 }));
    await oneRun(engine, { candidates, topK: 1, vector: [1, 0] }, { reward: run % 2, tier: "verified" });
  }
  await engine.close();
  const { stdout } = await qavr("status", "-s", path);
  expect(stdout).toContain("310 runs have taught. Lift is not measured yet");
  expect(stdout).toContain("where searches find judged memories again");
});

it("qavr status flags sources that have used up the latest cap of the application", async () => {
  const path = newPath();
  const capped = (weight: number) => ({ governance: governance({ sourceCaps: { weight, window: 1e14 } }) });
  const store = sqliteStore(path);
  const earlier = appEngine(store, { ...capped(9), createId: () => crypto.randomUUID() });
  const engine = appEngine(store, capped(1));
  for (const application of [earlier, engine, engine, engine]) {
    const { episode } = await application.rank({ candidates: [{ id: "planted", similarity: 1 }], topK: 1 });
    await application.end(episode, { reward: true, tier: "user", source: "fan" });
  }
  const { sources } = await engine.status();
  await engine.close();
  expect(sources).toMatchObject([{ source: "fan", credited: 1, flags: ["capped"] }]);
  expect(((await dataOf("status", "-s", path)) as StatusReport).sources).toEqual(sources);
  expect((await qavr("status", "-s", path)).stdout).toContain("source fan: capped");
});
