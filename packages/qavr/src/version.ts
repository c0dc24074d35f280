import { readFileSync } from "node:fs";

/** Version of this package. */
export function versionOf(): string {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
