import type { UserConfig } from "tsdown";

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
    ...options,
  };
}
