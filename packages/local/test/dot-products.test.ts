import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import wabt from "wabt";
import { dotProducts, MODULE } from "../src/dot-products.js";

it("runs the WebAssembly that its text says", async () => {
  const text = readFileSync(new URL("../src/dot-products.wat", import.meta.url), "utf8");
  const { parseWat } = await wabt();
  const compiled = parseWat("dot-products.wat", text, { simd: true }).toBinary({}).buffer;
  expect(MODULE).toBe(Buffer.from(compiled).toString("base64"));
});

it("says that vectors need more than WebAssembly's 4 GB", () => {
  expect(() => dotProducts(2 ** 30)).toThrow(expect.objectContaining({ code: "LIMIT_EXCEEDED" }));
});
