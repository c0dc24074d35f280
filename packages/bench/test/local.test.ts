import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { CONTENDERS, ENSEMBLE, HNSW, HYBRID, SCAN, WORDS } from "../src/local/contenders.js";
import { probe } from "../src/local/probe.js";
import { localSummary, reportPage } from "../src/local/report.js";
import { reportOf } from "../src/report/benchmark.js";

describe("a search of the comparison", () => {
  const texts = ["the card has not arrived", "my transfer is late", "where do I change my address"];
  const requests = [
    { text: "when has the card arrived", need: 0 },
    { text: "change address", need: 2 },
  ];
  const vectors = [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [0.9, 0.1, 0],
    [0, 0.1, 0.9],
  ];

  it.each(CONTENDERS.filter(({ name }) => name !== HNSW).map(({ name }) => name))(
    "finds the text of a request's need, filled and opened again: %s",
    async (contender) => {
      const folder = mkdtempSync(join(tmpdir(), "qavr-bench-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      writeFileSync(join(folder, "corpus.json"), JSON.stringify({ texts, needs: [0, 1, 2], requests, dims: 3 }));
      writeFileSync(join(folder, "vectors.bin"), new Uint8Array(Float32Array.from(vectors.flat()).buffer));
      for (const step of ["fill", "open"] as const) {
        expect(await probe({ contender, folder, step })).toMatchObject({ hits: 1 });
      }
    },
  );
});

describe("the page about own memories", () => {
  const result = (name: string, p50: number) => ({
    ...{ name, size: 10_000, p50, hits: 0.9, fill: 500, open: 10, memory: 1e6 },
  });

  it("says first which targets are missed", () => {
    const measured = [result(WORDS, 1), result(SCAN, 2), result(HYBRID, 4), result(HNSW, 0.3), result(ENSEMBLE, 60)];
    const results = { measured };
    expect(localSummary(results)).toContain("15.0 (MISSED ≥ 20)");
    const page = reportPage(reportOf("local", { node: "24" }, results));
    expect(page).toContain(`**Missed in this run: ${ENSEMBLE} ÷ ${HYBRID}`);
    expect(page).toContain("from about **100,000 texts** on");
  });
});
