import { createEngine, type Engine, memoryStore } from "@qavr/core";
import { closing } from "../../../core/test/support/closing.js";
import { openProcedures, type Procedures, type ProceduresOptions } from "../../src/index.js";
import { vault } from "./vault.js";

/** Procedures in a folder with these files, closed when the test has ended. */
export function proceduresIn(root: string, options: ProceduresOptions = {}): Procedures {
  return closing(openProcedures(root, options));
}

/** Procedures in a new folder with these files, on a ledger in memory. */
export function proceduresOf(
  files: Readonly<Record<string, string>>,
  options: ProceduresOptions = {},
): { readonly root: string; readonly engine: Engine; readonly procedures: Procedures } {
  const root = vault(files);
  const engine = options.engine ?? createEngine({ store: memoryStore() });
  return { root, engine, procedures: proceduresIn(root, { ...options, engine }) };
}

/** A Markdown file with front matter. */
export function markdown(fields: Readonly<Record<string, string>>, body: string): string {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\n`);
  return `---\n${lines.join("")}---\n${body}`;
}
