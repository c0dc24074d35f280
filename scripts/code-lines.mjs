// Prints the lines of code of each package's sources, without blanks, comments and tests: `pnpm exec node scripts/code-lines.mjs [folder …]`.
import { globSync } from "node:fs";
import { codeLines } from "../packages/checks/src/code-lines.ts";

const asked = process.argv.slice(2);
for (const folder of asked.length > 0 ? asked : globSync("packages/*/src").sort()) {
  const files = globSync(`${folder}/**/*.ts`).filter((path) => !/\.test(-d)?\.ts$/.test(path));
  const lines = files.reduce((sum, path) => sum + codeLines(path), 0);
  console.log(`${String(lines).padStart(7)} lines ${String(files.length).padStart(4)} files  ${folder}`);
}
