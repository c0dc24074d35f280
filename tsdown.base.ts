import type { UserConfig } from "tsdown";

/**
 * Lazy packages in the CommonJS build: Jest knows no import() there, and in Node it would load a second copy of each package. A computed
 * name keeps import(), since webpack leaves no computed require() alone.
 */
const lazyRequire: UserConfig["plugins"] = {
  name: "lazy-require",
  renderChunk: (code, { fileName }) =>
    fileName.endsWith(".cjs")
      ? { code: code.replaceAll(/\bimport\(("[^"]+")\)/g, "Promise.resolve().then(() => require($1))"), map: null }
      : null,
};

/** How every publishable package is built: ESM and CJS side by side, types for each, dependencies left outside. */
export function library(options: Pick<UserConfig, "platform" | "entry"> = {}): UserConfig {
  return {
    entry: ["src/index.ts"],
    format: ["esm", "cjs"],
    platform: "node",
    target: "es2023",
    dts: { oxc: true },
    sourcemap: true,
    fixedExtension: true,
    plugins: lazyRequire,
    ...options,
  };
}
