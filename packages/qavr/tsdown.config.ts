import { defineConfig } from "tsdown";
import { library } from "../../tsdown.base.ts";

/** A program, not a library: nobody imports it, so it has no types and no CommonJS. */
export default defineConfig({ ...library({ entry: ["src/main.ts"] }), format: ["esm"], dts: false });
