import { describe, expect, it } from "vitest";
import { repositoryFile } from "../src/repository.js";
import { DESIGNS, SOURCE_DESIGNS, sourceDesignsPage, testsByCode } from "../src/source-designs.js";

const tests = testsByCode();
const lines = DESIGNS.flatMap((design) => design.lines);

/** Requirements about the repository itself, which no test of the code can show. */
const ABOUT_THE_REPOSITORY = ["P21", "L12"];

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
      if (needsTest && !ABOUT_THE_REPOSITORY.includes(code)) expect(tests.get(code) ?? []).not.toEqual([]);
    },
  );

  it("are listed on their page (vitest -u writes it)", async () => {
    await expect(sourceDesignsPage(tests)).toMatchFileSnapshot(repositoryFile(SOURCE_DESIGNS));
  });
});
