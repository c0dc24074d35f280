import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryFile } from "./repository.js";

/** The fields of a package.json that the checks read. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly license?: string;
  readonly description?: string;
  readonly type?: string;
  readonly sideEffects?: boolean;
  readonly engines?: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** One package that goes to the registry. */
export interface PublishedPackage {
  /** Absolute path. */
  readonly folder: string;
  readonly manifest: Manifest;
}

/** Every package under packages/ that is not private, by folder name. */
export function publishedPackages(): PublishedPackage[] {
  return readdirSync(repositoryFile("packages"))
    .sort()
    .map((name) => repositoryFile(`packages/${name}`))
    .map((folder) => ({ folder, manifest: readManifest(folder) }))
    .filter(({ manifest }) => manifest.private !== true);
}

/** The package.json of a folder. @throws SyntaxError or ENOENT */
export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}
