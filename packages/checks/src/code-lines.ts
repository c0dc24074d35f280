import { readFileSync } from "node:fs";
import { parseSync } from "vite";

/** Lines of a TypeScript file that hold code: neither blank nor only a comment. */
export function codeLines(path: string): number {
  const source = readFileSync(path, "utf8");
  let code = source;
  for (const { start, end } of parseSync(path, source).comments) {
    code = code.slice(0, start) + code.slice(start, end).replace(/\S/gu, " ") + code.slice(end);
  }
  return code.split("\n").filter((line) => line.trim() !== "").length;
}
