import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dot } from "../scoring/vectors.js";
import { hashedVector } from "./hashed-vector.js";

const vectorOf = (text: string): Float32Array => hashedVector(text) as Float32Array;
const cosine = (a: string, b: string): number => dot(vectorOf(a), vectorOf(b));

describe("hashedVector", () => {
  it("has length 1 for any text with a letter or digit, and only finite values", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        const vector = hashedVector(text);
        if (/[\p{L}\p{N}]/u.test(text)) expect(vector).toBeDefined();
        if (vector) expect(dot(vector, vector)).toBeCloseTo(1, 5);
      }),
    );
  });

  it.each(["y", "Y", "y?", "ც"])("has length 1 for %j, whose word and whose characters cancel out", (text) => {
    expect(cosine(text, text)).toBeCloseTo(1, 5);
    expect(cosine(text, "x")).toBeLessThan(1);
  });

  it.each(["", " \n\t", "?!… –", "\u0301", "😀 🎉", "\ud800"])(
    "is undefined for %j, which says nothing in words",
    (text) => {
      expect(hashedVector(text)).toBeUndefined();
    },
  );

  it("does not care about case, punctuation or white space", () => {
    expect(vectorOf("  Reset THE password!! ")).toEqual(vectorOf("reset the password"));
    expect(vectorOf("ÄRGER mit ΣΟΦΟΣ")).toEqual(vectorOf("ärger mit σοφος"));
  });

  it("cares about words, their order and their parts", () => {
    const text = "renew the expired certificate";
    expect(cosine(text, "the certificate has expired")).toBeGreaterThan(
      cosine(text, "the password was forgotten") + 0.2,
    );
    expect(cosine(text, "renewing expired certificates")).toBeGreaterThan(0.4);
    expect(cosine("dog bites man", "man bites dog")).toBeLessThan(0.999);
  });

  it("reads scripts without spaces by their character groups", () => {
    expect(cosine("証明書の期限が切れた", "期限切れの証明書")).toBeGreaterThan(
      cosine("証明書の期限が切れた", "天気予報を教えて") + 0.03,
    );
  });

  it("reads at most the first 8,192 characters, so that a text of a million costs no more", () => {
    const start = "certificate ".repeat(700).slice(0, 8_192);
    expect(vectorOf(start + "x".repeat(1_000_000))).toEqual(vectorOf(start));
    expect(hashedVector(`${"?".repeat(8_192)}word`)).toBeUndefined();
  });

  it("takes a letter and its combining marks for one word", () => {
    const composed = "caf\u00e9 r\u00e9sum\u00e9";
    expect(hashedVector("\u0928\u092e\u0938\u094d\u0924\u0947")).not.toEqual(hashedVector("\u0928\u092e\u0938 \u0924"));
    // Decomposed, each word stays whole: two words and one pair, as in the composed text.
    const decomposed = hashedVector(composed.normalize("NFD")) as Float32Array;
    const split = hashedVector(composed.normalize("NFD").replaceAll("\u0301", " ")) as Float32Array;
    expect(decomposed).not.toEqual(split);
  });
});
