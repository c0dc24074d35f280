import { defineConfig } from "tsdown";
import { library } from "../../tsdown.base.ts";

/** ESM only: vitest cannot be required. */
export default defineConfig({ ...library(), format: ["esm"] });
