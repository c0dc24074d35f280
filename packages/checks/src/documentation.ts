import { globSync } from "node:fs";
import { relative, sep } from "node:path";
import { repositoryFile } from "./repository.js";

const PAGES = [
  "*.md",
  "docs/**/*.md",
  "packages/*/README.md",
  "packages/*/data/**/*.md",
  "examples/*/README.md",
] as const;

/** Every page that people read, from the repository's root, sorted. */
export function documentationPages(): string[] {
  const root = repositoryFile("");
  const found = PAGES.flatMap((pattern) => globSync(pattern, { cwd: root }));
  return [...new Set(found.map((path) => path.split(sep).join("/")))].sort();
}

/** Source files of every package and example, tests left out, from the repository's root, sorted. */
export function sourceFiles(): string[] {
  const root = repositoryFile("");
  return globSync(["packages/*/src/**/*.ts", "examples/*/src/**/*.ts"], { cwd: root })
    .map((path) => relative(root, repositoryFile(path)).split(sep).join("/"))
    .filter((path) => !path.endsWith(".test.ts") && !path.startsWith("packages/checks/"))
    .sort();
}
