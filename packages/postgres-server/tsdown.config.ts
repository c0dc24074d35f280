import { defineConfig } from "tsdown";
import { library } from "../../tsdown.base.ts";

/** ESM only, as the binaries' packages are. */
export default defineConfig({ ...library(), format: ["esm"] });
