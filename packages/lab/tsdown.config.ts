import { defineConfig } from "tsdown";
import { library } from "../../tsdown.base.ts";

/** Unbundled: the data files are found relative to the module that reads them, from sources and from `dist` alike. */
export default defineConfig({ ...library(), format: ["esm"], unbundle: true });
