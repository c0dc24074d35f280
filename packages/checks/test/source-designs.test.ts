import { globSync, readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import type { ViteUserConfig } from "vitest/config";
import { repositoryFile } from "../src/repository.js";
import { DESIGNS, SOURCE_DESIGNS, sourceDesignsPage, testsByCode } from "../src/source-designs.js";

const tests = testsByCode();
const lines = DESIGNS.flatMap((design) => design.lines);

describe("the requirements of the source designs", () => {
  it("are counted through, and each test names one that exists", () => {
    const series = (letter: string, length: number): string[] => Array.from({ length }, (_, i) => `${letter}${i + 1}`);
    const codes = [...series("Q", 16), ...series("R", 13), ...series("P", 26), ...series("L", 13)];
    expect(lines.map(({ code }) => code)).toEqual(codes);
    expect([...tests.keys()].filter((code) => !codes.includes(code))).toEqual([]);
  });

  it.each(lines.map((one) => [one.code, one] as const))(
    "%s has a test, or a reason why not",
    (code, { state, note }) => {
      if (state !== "works") expect(note === "" && state !== "not built").toBe(false);
      if (state === "not built") expect(tests.get(code), "it has a test, so it is built").toBeUndefined();
      const needsTest = code.startsWith("R") || state === "works" || state === "partly";
      if (needsTest) expect(tests.get(code) ?? []).not.toEqual([]);
    },
  );

  it("L12: the package of lessons has them in its readme, and its changelog will name them", () => {
    expect(readFileSync(repositoryFile("packages/markdown/README.md"), "utf8")).toMatch(
      /^const lessons = openLessons\(/m,
    );
    const changes = readFileSync(repositoryFile(".changeset/first-release-markdown.md"), "utf8");
    expect(changes).toContain('"@qavr/markdown": minor');
    expect(changes).toMatch(/lessons/i);
  });

  it("P21: continuous integration fails where tests cover less than 80 % of the sources", async () => {
    expect(readFileSync(repositoryFile(".ci/run"), "utf8")).toMatch(/^export CI=true /m);
    vi.stubEnv("CI", "true");
    const { default: config }: { default: ViteUserConfig } = await import(repositoryFile("vitest.config.ts"));
    const { enabled, include = [], exclude = [], thresholds = {} } = config.test?.coverage ?? {};
    expect(enabled).toBe(true);
    for (const measure of ["statements", "branches", "functions", "lines"] as const)
      expect(thresholds[measure], measure).toBeGreaterThanOrEqual(80);
    const measured = globSync([...include], { cwd: repositoryFile(""), exclude: [...exclude] });
    expect(measured).toContain("packages/markdown/src/procedures/opened-procedures.ts");
  });

  it("are listed on their page (vitest -u writes it)", async () => {
    await expect(sourceDesignsPage()).toMatchFileSnapshot(repositoryFile(SOURCE_DESIGNS));
  });
});
