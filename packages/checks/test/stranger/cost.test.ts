import { globSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { codeLines } from "../../src/code-lines.js";

/** Most lines of code, tests included, that an addition by CONTRIBUTING.md alone may need. */
const LIMITS = { "win-rate": 100, "file-store": 160, "toy-adapter": 150 };

it.each(Object.entries(LIMITS))("%s, added by CONTRIBUTING.md alone, takes at most %i lines", (toy, limit) => {
  const files = globSync(`${toy}*.ts`, { cwd: import.meta.dirname });
  const lines = files.reduce((sum, file) => sum + codeLines(join(import.meta.dirname, file)), 0);
  console.log(`${toy}: ${lines} lines in ${files.length} files`);
  expect(files.length).toBeGreaterThan(1);
  expect(lines).toBeLessThanOrEqual(limit);
});
