import { describe, expect, it } from "vitest";
import { seededRandom } from "../../test/support/random.js";
import { HASHED_DIMS, hashedVector } from "./hashed-vector.js";
import { dequantise } from "./quantise.js";
import { hostVector, textVector } from "./request-vector.js";
import type { Found } from "./smoothing.js";

describe("hostVector", () => {
  it("keeps at most 512 bytes and remembers the length it was given", () => {
    const short = hostVector([1, 2, 3], "default");
    const long = hostVector(seededRandom(1).direction(1_536), "default");
    expect([short?.bytes.length, short?.length, short?.source]).toEqual([3, 3, "host"]);
    expect([long?.bytes.length, long?.length]).toEqual([512, 1_536]);
  });

  it("ranks with exactly what is recorded", () => {
    const vector = hostVector(seededRandom(2).direction(384), "default");
    expect(vector?.unit).toEqual(dequantise(vector?.bytes as Int8Array));
  });

  it("is undefined for a zero vector", () => {
    expect(hostVector(new Float32Array(8), "default")).toBeUndefined();
  });

  it("gives the same bytes for arrays and typed arrays of one vector", () => {
    const values = seededRandom(3).direction(768).map(Math.fround);
    expect(hostVector(values, "default")?.bytes).toEqual(hostVector(Float32Array.from(values), "default")?.bytes);
  });
});

const nothing: Found = { ids: [], similarities: new Float64Array(0), topK: 5, neighbour: () => undefined };

describe("textVector", () => {
  it("is the quantised hashed vector where nothing was found", () => {
    const vector = textVector("reset the password", "default", nothing);
    const hashed = hashedVector("reset the password") as Float32Array;
    expect([vector?.length, vector?.source]).toEqual([HASHED_DIMS, "hashed"]);
    const cosine = hashed.reduce((sum, value, i) => sum + value * (vector?.unit[i] as number), 0);
    expect(cosine).toBeGreaterThan(0.999);
  });

  it("is undefined for a text without words, unless a context is named", () => {
    expect(textVector("…", "default", nothing)).toBeUndefined();
    expect(textVector("…", "deploy", nothing)?.length).toBe(HASHED_DIMS);
  });
});
