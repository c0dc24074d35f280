import { join } from "node:path";
import ts from "typescript-6";
import type { PublishedPackage } from "./published-packages.js";
import { repositoryFile } from "./repository.js";

/** The exported names of each entry, types included, with the place of each name's declaration. */
export type PublicNames = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Declaration files of every entry of the packages, by the specifier that imports it. */
export function declarationFiles(packages: readonly PublishedPackage[]): Map<string, string> {
  const files = new Map<string, string>();
  for (const { folder, manifest } of packages) {
    for (const [path, target] of Object.entries(manifest.exports)) {
      const types = (target as { import?: { types?: string } }).import?.types ?? (target as { types?: string }).types;
      if (types) files.set(path.replace(".", manifest.name), join(folder, types));
    }
  }
  return files;
}

/** Reads what declaration files export. A name that is exported again has the place of its first declaration. */
export function publicNames(files: ReadonlyMap<string, string>): PublicNames {
  const program = ts.createProgram([...files.values()], {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    noLib: true,
    types: [],
  });
  const checker = program.getTypeChecker();
  const place = (symbol: ts.Symbol): string => {
    const origin = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    const [declaration] = origin.declarations ?? [];
    return declaration ? `${declaration.getSourceFile().fileName}:${declaration.getStart()}` : "unresolved";
  };
  const names = new Map<string, ReadonlyMap<string, string>>();
  for (const [specifier, path] of files) {
    const file = program.getSourceFile(path);
    const module = file && checker.getSymbolAtLocation(file);
    if (!module) throw new Error(`${specifier} has no declarations at ${path}: build the packages first.`);
    const exported = checker.getExportsOfModule(module);
    names.set(specifier, new Map(exported.map((symbol) => [symbol.name, place(symbol)])));
  }
  return names;
}

/** Names that mean different things in different entries, each with the entries that export it. */
export function ambiguousNames(names: PublicNames): Record<string, readonly string[]> {
  const uses = new Map<string, { readonly entries: string[]; readonly places: Set<string> }>();
  for (const [specifier, exported] of names) {
    for (const [name, place] of exported) {
      const use = uses.get(name) ?? { entries: [], places: new Set() };
      use.entries.push(specifier);
      use.places.add(place);
      uses.set(name, use);
    }
  }
  const ambiguous = [...uses].filter(([, { places }]) => places.size > 1);
  return Object.fromEntries(ambiguous.map(([name, { entries }]) => [name, entries]));
}

/** Errors of TypeScript in the declarations of a library that exports the result of each function. */
export function unnamedTypes(specifier: string, functions: readonly string[]): string[] {
  const library = repositoryFile("packages/checks/library.ts");
  const calls = functions.map(
    (name) => `export const ${name} = from.${name}(...([] as unknown as Parameters<typeof from.${name}>));`,
  );
  const text = `import * as from "${specifier}";\n${calls.join("\n")}`;
  const options: ts.CompilerOptions = {
    declaration: true,
    strict: true,
    target: ts.ScriptTarget.ES2024,
    module: ts.ModuleKind.NodeNext,
    types: ["node"],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (path, version) =>
    path === library ? ts.createSourceFile(path, text, version) : getSourceFile(path, version);
  const program = ts.createProgram([library], options, host);
  const found = [
    ...program.getSemanticDiagnostics(program.getSourceFile(library)),
    ...program.getDeclarationDiagnostics(),
  ];
  return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " "));
}
