import { defineConfig } from "tsdown";
import { library } from "../../tsdown.base.ts";

const page = "src/dashboard/page";

export default defineConfig([
  // A program has no types and no CommonJS: it is never imported.
  { ...library({ entry: ["src/main.ts"] }), format: ["esm"], dts: false },
  // The page of the dashboard, with everything that it needs in one file.
  {
    entry: { app: `${page}/app.tsx` },
    outDir: "dist/page",
    format: ["esm"],
    platform: "browser",
    target: "es2023",
    dts: false,
    minify: true,
    noExternal: [/./],
    outExtensions: () => ({ js: ".js" }),
    copy: [
      ...[`${page}/index.html`, `${page}/app.css`, `${page}/data.css`].map((from) => ({ from, to: "dist/page" })),
      // Its notice must be in every copy of it, and the page holds one.
      { from: "node_modules/preact/LICENSE", to: "dist/page", rename: "app.js.LICENSE.txt" },
    ],
  },
]);
