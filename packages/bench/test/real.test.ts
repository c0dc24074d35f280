import { describe, expect, it } from "vitest";
import { COLUMNS, type Column, type HostedRequest, type Replay, replayOf, TOLD_COLUMNS } from "../src/real/columns.js";
import { loadRealSet, REAL_SETS, type RealSetName } from "../src/real/real-sets.js";
import { referencesOf } from "../src/real/references.js";
import { realPage, realSummary, resultsOf } from "../src/real/report.js";
import { runTrial } from "../src/real/trial.js";

const sizes: Readonly<Record<RealSetName, number>> = {
  "bfcl-models": 1700,
  "prompts-mawps": 1685,
  "prompts-gsm8k": 1000,
  "gorilla-docs": 1651,
  feedbackqa: 1308,
  skills: 1385,
};

/** The host prefers `wrong`, which always fails; `right` always succeeds. */
const request = (number: number): HostedRequest => ({
  id: `r${number}`,
  text: number % 2 === 0 ? "reset a password" : "book a table",
  category: number % 2 === 0 ? "accounts" : "tables",
  candidates: [
    { id: "wrong", similarity: 0.7, outcome: 0 },
    { id: "right", similarity: 0.5, outcome: 1 },
    { id: "sometimes", similarity: 0.4, outcome: number % 2 },
  ],
});
const requests = Array.from({ length: 80 }, (_, number) => request(number));
const replay: Replay = {
  column: { name: "toy", set: "feedbackqa", host: "given", k: 1 },
  seed: 1,
  stream: requests.slice(0, 60),
  heldOut: requests.slice(60),
};
const embed = (text: string): Float32Array =>
  text.startsWith("reset") ? Float32Array.of(1, 0) : Float32Array.of(0, 1);

describe("benchmark of real outcomes", () => {
  it.each(Object.keys(REAL_SETS) as RealSetName[])("loads %s as published", async (name) => {
    const all = await loadRealSet(name);
    expect(all).toHaveLength(sizes[name]);
    for (const { candidates } of all) {
      expect(candidates.length).toBeGreaterThan(1);
      expect(candidates.every(({ outcome }) => outcome >= 0 && outcome <= 1)).toBe(true);
    }
  });

  it("gives each skill its own outcomes and similarity", async () => {
    const requests = (await loadRealSet("skills")).filter(({ category }) => category === "language");
    const detects = ({ text }: { readonly text?: string }): boolean => text?.startsWith("Detect the language") === true;
    const solving = requests.flatMap(({ candidates }) => candidates.filter(({ outcome }) => outcome === 1));
    expect(solving.length).toBeGreaterThan(300);
    expect(solving.every(detects)).toBe(true);
    const nearest = requests.map(({ candidates }) =>
      candidates.reduce((a, b) => ((a.similarity as number) >= (b.similarity as number) ? a : b)),
    );
    expect(nearest.filter(detects).length).toBeGreaterThan(0.9 * requests.length);
    expect(nearest.every(({ similarity }) => (similarity as number) <= 1)).toBe(true);
  });

  it("replays the same stream for a seed, and holds out other requests", async () => {
    const noise = COLUMNS.find(({ name }) => name === "mawps, noise") as Column;
    const { stream, heldOut } = await replayOf(noise, 3);
    expect(await replayOf(noise, 3)).toEqual(await replayOf(noise, 3));
    expect((await replayOf(noise, 4)).stream[0]?.id).not.toBe(stream[0]?.id);
    const learned = new Set(stream.map(({ id }) => id));
    expect(heldOut.some(({ id }) => learned.has(id))).toBe(false);
    for (const { candidates } of stream) {
      expect(candidates.map(({ similarity }) => similarity)).toEqual(
        candidates.map(({ similarity }) => similarity).sort((a, b) => b - a),
      );
    }
  });

  it("gives one wrong order to all requests of a fixed host, and equal similarities to those of a constant one", async () => {
    const orders = async (host: string): Promise<readonly string[]> => {
      const { stream } = await replayOf(COLUMNS.find(({ name }) => name === `mawps, ${host}`) as Column, 1);
      return stream.map(({ candidates }) => candidates.map(({ id, similarity }) => `${id} ${similarity}`).join());
    };
    expect(new Set(await orders("fixed")).size).toBe(1);
    const constant = await orders("constant");
    expect(constant[0]).toMatch(/ 0\.5\b/);
    expect(new Set(constant).size).toBeGreaterThan(100);
  });

  it("makes success rare where it says so", async () => {
    const { stream } = await replayOf(COLUMNS.find(({ name }) => name.startsWith("bfcl-rare")) as Column, 1);
    const outcomes = stream.flatMap(({ candidates }) => candidates.map(({ outcome }) => outcome));
    expect(stream[0]?.candidates).toHaveLength(10);
    expect(outcomes.reduce((sum, one) => sum + one, 0) / outcomes.length).toBeLessThan(0.3);
  });

  it("learns from real outcomes alone", async () => {
    expect(await runTrial(replay, "similarity", embed)).toEqual({ online: 0, heldOut: 0 });
    const learned = await runTrial(replay, "oar", embed);
    expect(learned.heldOut).toBeGreaterThan(0.9);
    expect(await runTrial(replay, "oar", embed)).toEqual(learned);
  });

  it("tells the category as the context where a column says so", async () => {
    const alike = requests.map(({ id, category, candidates }, number): HostedRequest => {
      const outcome = (helps: boolean): number => Number(helps === (number % 2 === 0));
      return {
        id,
        text: "do it again",
        ...(category === undefined ? {} : { category }),
        candidates: candidates.slice(0, 2).map((one, place) => ({ ...one, outcome: outcome(place === 0) })),
      };
    });
    const column = TOLD_COLUMNS.find(({ name }) => name === "skills, given, told") as Column;
    const heldOut = async (told: boolean): Promise<number> => {
      const own = { ...replay, column: { ...column, told }, stream: alike.slice(0, 60), heldOut: alike.slice(60) };
      return (await runTrial(own, "oar", embed)).heldOut;
    };
    expect(await heldOut(true)).toBe(1);
    expect(await heldOut(false)).toBe(0.5);
  });

  it("compares with references computed in hindsight", () => {
    expect(referencesOf(replay, embed)).toEqual({
      uniform: { online: 0.5, heldOut: 0.5 },
      "best single": { online: 1, heldOut: 1 },
      "best per category": { online: 1, heldOut: 1 },
      "nearest neighbours": { heldOut: 1 },
      oracle: { online: 1, heldOut: 1 },
    });
  });

  it("reports losses before gains", () => {
    const results = resultsOf(
      [...COLUMNS, ...TOLD_COLUMNS].flatMap(({ name, told }) =>
        [1, 2].flatMap((seed) => [
          { column: name, seed, success: { uniform: { online: 0.5, heldOut: 0.5 } } },
          { column: name, seed, row: "similarity", success: { similarity: { online: 0.5, heldOut: 0.5 } } },
          { column: name, seed, row: "beta-mean", success: { "beta-mean": { online: 0.7, heldOut: 0.7 } } },
          { column: name, seed, row: "oar", success: { oar: { online: told ? 0.8 : 0.6, heldOut: 0.62 } } },
        ]),
      ),
    );
    const page = realPage({
      ...results,
      command: "pnpm bench real --full",
      date: "2026-01-01",
      hardware: { cpu: "a processor", cores: 2, memoryGiB: 8, load: 0 },
      versions: {},
    });
    expect(page).toContain("- Behind in the mean of all columns: `beta-mean` by 0.090.");
    expect(page).toContain("- Worse than similarity: nowhere.");
    expect(page).toContain(
      "- Behind the best other learner of a column in 46 of 46. The largest losses: bfcl-mid, noise (`beta-mean`, 0.090); bfcl-mid, fixed (",
    );
    expect(page).toMatch(/\| beta-mean +\| +0\.700 \| +0\.700 \| +46 \|/);
    expect(page).toMatch(/\| skills, given +\| +0\.500 \| 0\.700 `beta-mean` \| +0\.610 \|/);
    expect(page).toMatch(/\| skills, given +\| +0\.610 \| \*\*0\.710\*\* \| 0\.700 `beta-mean` \|/);
    expect(realSummary(results)).toMatch(/\| similarity +\| +0\.500 \| +0\.500 \| +0 \|/);
  });
});
