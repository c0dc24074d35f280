import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { adapterPage } from "../src/adapter/report.js";
import { reportPage as busyPage } from "../src/busy/report.js";
import { reportPage as clusterPage } from "../src/cluster/report.js";
import { reportPage as growthPage } from "../src/growth/report.js";
import { compare } from "../src/learning/comparison.js";
import { reportPage as learningPage } from "../src/learning/report.js";
import { decodeResults } from "../src/learning/results.js";
import { reportPage as localPage } from "../src/local/report.js";
import { reportPage as mastraPage } from "../src/mastra/report.js";
import { reportPage as procedurePage } from "../src/procedures/report.js";
import { realPage } from "../src/real/report.js";
import { reportPage as scalePage } from "../src/scale/report.js";
import { silencePage } from "../src/silence/report.js";
import { reportPage as speedPage } from "../src/speed/report.js";
import { reportPage as storesPage } from "../src/stores/report.js";

const read = (file: string): string =>
  readFileSync(new URL(`../../../docs/benchmarks/${file}`, import.meta.url), "utf8");
const from = <Report>(page: (report: Report) => string): ((raw: string) => string) => {
  return (raw) => page(JSON.parse(raw) as Report);
};

const PAGES: Readonly<Record<string, (raw: string) => string>> = {
  adapter: from(adapterPage),
  busy: from(busyPage),
  cluster: from(clusterPage),
  growth: from(growthPage),
  learning(raw) {
    const { trials, ownMemories } = decodeResults(raw);
    return learningPage(compare(trials, ownMemories));
  },
  local: from(localPage),
  mastra: from(mastraPage),
  procedures: from(procedurePage),
  real: from(realPage),
  scale: from(scalePage),
  silence: from(silencePage),
  speed: from(speedPage),
  stores: from(storesPage),
};

describe("the pages of docs/benchmarks", () => {
  it.each(Object.entries(PAGES))(
    "say what follows from the stored results (else: pnpm bench %s --render)",
    (name, page) => {
      expect(read(`${name}.md`)).toBe(page(read(`${name}.json`)));
    },
  );
});
