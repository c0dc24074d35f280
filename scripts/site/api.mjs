// The API reference: what the types of each package declare, read from its build.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Start of a declaration, or of something between two. */
const START = /^(?:export |declare |interface |type |class |abstract |const |function |import |\/\*\*|\/\/#)/;

/** @returns Markdown pages by path: one for each entry of each published package */
export function apiPages(root, manifests) {
  const pages = new Map();
  for (const { folder, manifest } of manifests) {
    for (const [entry, conditions] of Object.entries(manifest.exports ?? {})) {
      const types = conditions?.import?.types ?? conditions?.types ?? conditions?.default?.types;
      const file = typeof types === "string" ? join(root, folder, types) : undefined;
      if (!file || !existsSync(file)) continue;
      const name = manifest.name + entry.slice(1);
      pages.set(`docs/api/${name.replace("@", "").replaceAll("/", "-")}.md`, pageOf(name, manifest.description, file));
    }
  }
  return pages;
}

function pageOf(name, description, file) {
  const files = filesFrom(file);
  const names = exportedBy(files.get(file));
  const parts = names.flatMap((exported) => {
    const found = declarationOf(exported, files);
    return found === undefined ? [] : [`## ${exported}\n\n\`\`\`ts\n${found}\n\`\`\`\n`];
  });
  return `# API of ${name}\n\n${description}\n\nGenerated from the types.\n\n${parts.join("\n")}`;
}

/** The file and what it imports from beside it, with their texts. */
function filesFrom(file, known = new Map()) {
  if (known.has(file) || !existsSync(file)) return known;
  const text = readFileSync(file, "utf8");
  known.set(file, text);
  for (const [, specifier] of text.matchAll(/^(?:import|export) .* from "(\.[^"]+)";$/gm)) {
    filesFrom(resolve(dirname(file), specifier.replace(/\.mjs$/, ".d.mts")), known);
  }
  return known;
}

function exportedBy(text) {
  return [...text.matchAll(/^export \{([^}]*)\}/gm)]
    .flatMap(([, list]) => list.split(","))
    .map((item) =>
      item
        .trim()
        .replace(/^type /, "")
        .replace(/^.* as /, ""),
    )
    .filter(Boolean)
    .sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
}

/** A declaration with its comment. */
function declarationOf(name, files) {
  const begins = new RegExp(
    `^(?:export )?(?:declare )?(?:abstract )?(?:function|const|class|interface|type) ${name.replace("$", "\\$")}\\b`,
  );
  for (const text of files.values()) {
    const lines = text.split("\n");
    const at = lines.findIndex((line) => begins.test(line));
    if (at === -1) continue;
    let from = at;
    if (lines[at - 1]?.trimEnd().endsWith("*/")) while (from > 0 && !lines[from].startsWith("/**")) from--;
    // A function may be declared several times in a row.
    let to = at + 1;
    while (to < lines.length && (!START.test(lines[to]) || begins.test(lines[to]))) to++;
    return lines.slice(from, to).join("\n").replaceAll("\t", "  ").trim();
  }
  return undefined;
}
