import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { DATASET_NAMES } from "@qavr/lab";
import { describe, expect, it } from "vitest";
import { runCommand } from "../src/learning/command.js";
import { parseOptions } from "../src/learning/options.js";
import { fullPlan, quickPlan, select, updated } from "../src/learning/plan.js";
import { encodeResults, type JobResult } from "../src/learning/results.js";
import { BASELINE_ROW, DEFAULT_ROW, REFERENCE_ROW, ROWS } from "../src/learning/rows.js";
import { SCENARIO_NAMES, SCENARIOS } from "../src/learning/scenarios.js";

const command = async (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> => {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const code = await runCommand(args, { stdout, stderr: stderr as unknown as NodeJS.WriteStream });
  return { code, stdout: String(stdout.read() ?? ""), stderr: String(stderr.read() ?? "") };
};

describe("the options", () => {
  it("mean everything by default, a part with a filter, and the guard with --quick", () => {
    expect(parseOptions([]).mode).toBe("full");
    expect(parseOptions(["--quick"]).mode).toBe("quick");
    expect(parseOptions(["--render", "--out", "x"])).toMatchObject({ mode: "render", out: "x" });
    expect(parseOptions(["--rows", "qavr,cav"])).toMatchObject({ mode: "part", rows: ["qavr", "cav"] });
  });

  it("read seeds as lists and ranges, each once, in order", () => {
    expect(parseOptions(["--seeds", "7,1-3,2"]).seeds).toEqual([1, 2, 3, 7]);
  });

  it.each([
    [["--rows", "cav,nobody"], "--rows knows similarity"],
    [["--sets", "imagenet"], "--sets knows banking77"],
    [["--scenarios", "main,war"], "Received war."],
    [["--seeds", "0"], "--seeds must be a list such as 1-8"],
    [["--seeds", "3-1"], "Received 3-1."],
    [["--quick", "--rows", "cav"], "--quick takes no --rows"],
    [["--quick", "--out", "x"], "--quick writes nothing"],
    [["--quick", "--render"], "exclude each other"],
    [["--update"], "--update takes a part"],
    [["--sedes", "8"], "Unknown option '--sedes'"],
  ])("%j is refused with what to do", async (args, reason) => {
    const { code, stdout, stderr } = await command(...args);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toContain(reason);
    expect(stderr).toContain("See pnpm bench learning --help.");
  });

  it("are explained, every name of every list included", async () => {
    const { code, stdout } = await command("--help");
    expect(code).toBe(0);
    for (const name of [...ROWS.map((row) => row.name), ...DATASET_NAMES, ...SCENARIO_NAMES]) {
      expect(stdout).toContain(name);
    }
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThan(130);
  });
});

describe("the plans", () => {
  it("always run similarity in the same worlds", () => {
    for (const plan of [
      fullPlan(),
      quickPlan(),
      select({ rows: ["cav"], sets: ["hwu64"], scenarios: ["main"], seeds: [101] }),
    ]) {
      const keys = new Set(plan.map(({ row, set, scenario, seed }) => JSON.stringify([row, set, scenario, seed])));
      expect(keys.size).toBe(plan.length);
      for (const { set, scenario, seed } of plan) {
        expect(keys.has(JSON.stringify([BASELINE_ROW, set, scenario, seed]))).toBe(true);
      }
    }
  });

  it("give the full benchmark every row on every set, and every scenario to the default learner", () => {
    const plan = fullPlan();
    const seeds = (row: string, set: string, scenario: string): number =>
      plan.filter((job) => job.row === row && job.set === set && job.scenario === scenario).length;
    for (const set of DATASET_NAMES) {
      for (const row of ROWS.filter(({ only, sourcesOnly }) => !only && !sourcesOnly)) {
        expect(seeds(row.name, set, "main")).toBe(16);
      }
    }
    for (const scenario of SCENARIO_NAMES.filter((name) => SCENARIOS[name].kind !== "narrow")) {
      const { kind } = SCENARIOS[scenario];
      const wanted = kind === "sources" ? 4 : 16;
      const set = kind === "harmless" ? "clinc150" : "banking77";
      expect(seeds(DEFAULT_ROW, set, scenario)).toBe(wanted);
      expect(seeds(REFERENCE_ROW, set, scenario)).toBe(wanted);
    }
    expect(seeds("langchain-time-weighted", "banking77", "main")).toBe(16);
    expect(plan.filter(({ row }) => row === "langchain-time-weighted")).toHaveLength(16);
  });
});

describe("rendering", () => {
  it("makes page and plots from raw results, the same bytes every time", async () => {
    const folder = await mkdtemp(join(tmpdir(), "learning-"));
    const at = { runs: 3000, success: 0.4, ndcg: 0.3, recall: 0.3, misleading: 0.2 };
    const shared = {
      set: "banking77",
      scenario: "main",
      seed: 1,
      online: 0.4,
      unseen: 0.3,
      unseenSuccess: 0.4,
    } as const;
    const results = [
      { ...shared, row: BASELINE_ROW, checkpoints: [at] },
      { ...shared, row: DEFAULT_ROW, unseenSuccess: 0.43, checkpoints: [{ ...at, success: 0.55 }] },
    ];
    await writeFile(join(folder, "learning.json"), encodeResults({ trials: results, ownMemories: [] }));
    const files = ["learning.md", "learning-curves.svg", "learning-heat-map.svg", "learning.json"];
    const render = async (): Promise<string[]> => {
      expect((await command("--render", "--out", folder)).code).toBe(0);
      return Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
    };
    const [first, second] = [await render(), await render()];
    expect(first[0]).toContain("+0.150");
    expect(first[0]).toMatch(/success of unseen needs .*0\.400.*\+0\.030/);
    expect(second).toEqual(first);
    await rm(folder, { recursive: true });
  });

  it("puts new trials in place of the same ones, in the order of the plan, and keeps all others", () => {
    const shared = { set: "hwu64", scenario: "main", unseen: undefined, checkpoints: [] } as const;
    const trial = (row: string, seed: number, online: number): JobResult => ({ ...shared, row, seed, online });
    const before = [trial("oar", 1, 0.1), trial("oar", 101, 0.2)];
    const { trials } = updated({ trials: before, ownMemories: [] }, [
      trial("oar", 1, 0.3),
      trial("similarity", 1, 0.4),
    ]);
    expect(trials).toEqual([trial("similarity", 1, 0.4), trial("oar", 1, 0.3), trial("oar", 101, 0.2)]);
  });

  it("fails with one line when there is nothing to render", async () => {
    const { code, stderr } = await command("--render", "--out", "/does/not/exist");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: .*learning\.json.*\n$/);
  });
});
