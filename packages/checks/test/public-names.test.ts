import { globSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as learners from "@qavr/learners";
import { describe, expect, it } from "vitest";
import { ambiguousNames, declarationFiles, publicNames, unnamedTypes } from "../src/public-names.js";
import { publishedPackages } from "../src/published-packages.js";

/** How many names `@qavr/core` may export, types included. Lower it when the index gets shorter; the aim is 60. */
const CORE_NAMES = 46;
/** The same for the main entry of `@qavr/langchain`. */
const LANGCHAIN_NAMES = 22;

const names = publicNames(declarationFiles(publishedPackages()));

describe("the names that packages export", () => {
  it("mean one thing each", () => {
    const ambiguous = ambiguousNames(names);
    expect(Object.keys(ambiguous).sort(), JSON.stringify(ambiguous, undefined, 2)).toEqual([]);
  });

  it.each([
    ["@qavr/core", CORE_NAMES],
    ["@qavr/langchain", LANGCHAIN_NAMES],
  ])("are few in %s: at most %i", (entry, most) => {
    const exported = [...(names.get(entry) as ReadonlyMap<string, string>).keys()];
    expect(exported.length, exported.sort().join(", ")).toBeLessThanOrEqual(most);
  });
});

describe("declarations", () => {
  it("name no type argument of typed arrays, which TypeScript knows from 5.7 on", () => {
    const files = publishedPackages().flatMap(({ folder }) => globSync(join(folder, "dist/*.d.{mts,cts}")));
    expect(files.length).toBeGreaterThan(20);
    expect(files.filter((file) => /\w(8|16|32|64)Array</.test(readFileSync(file, "utf8")))).toEqual([]);
  });
});

describe("learners", () => {
  it("have types that the declarations of a library can name", () => {
    expect(unnamedTypes("@qavr/core", ["oar", "qValue", "similarity"])).toEqual([]);
    const functions = Object.keys(learners);
    expect(functions.length).toBeGreaterThan(15);
    expect(unnamedTypes("@qavr/learners", functions)).toEqual([]);
  });
});

describe("options and the fields of a candidate", () => {
  it("may be there and undefined, unless a call must not guess what it changes", () => {
    const files = publishedPackages().flatMap(({ folder }) => globSync(join(folder, "dist/*.d.mts")));
    const strict = files.flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(/^interface (\w+Options|Candidate)\b[^{]*\{(.*?)^\}/gms)].flatMap(
        ([, name, fields]) =>
          [...(fields as string).matchAll(/^ {2}readonly (\w+)\?: (.*);$/gm)]
            .filter(([, , type]) => !/undefined|unknown|\[/.test(type as string))
            .map(([, field]) => `${name}.${field}`),
      ),
    );
    const bySame = /^(Revoke|Read|Scan|NamespaceList|RunKit|RunSession)Options\./;
    expect(strict.filter((option) => !bySame.test(option))).toEqual([]);
  });
});

describe("ambiguousNames", () => {
  it("finds a name of two declarations, and none where one declaration is exported twice", () => {
    const folder = mkdtempSync(join(tmpdir(), "qavr-names-"));
    const file = (name: string, source: string): [string, string] => {
      writeFileSync(join(folder, `${name}.d.mts`), source);
      return [name, join(folder, `${name}.d.mts`)];
    };
    const planted = new Map([
      file("a", "export interface Same { a: 1 } export interface Other { a: 1 }"),
      file("b", 'export { Same } from "./a.mjs"; export interface Other { b: 1 }'),
    ]);
    expect(ambiguousNames(publicNames(planted))).toEqual({ Other: ["a", "b"] });
  });
});
