import { describe, expect, it } from "vitest";
import { seededRandom } from "../../test/support/random.js";
import { dot } from "../scoring/vectors.js";
import { turnTowards } from "./context-direction.js";

const random = seededRandom(17);
const request = (): Float32Array => Float32Array.from(random.direction(256));
const cosine = (a: Float32Array, b: Float32Array): number => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));

describe("turnTowards", () => {
  it("leaves requests of the default context as they are", () => {
    const q = request();
    expect(turnTowards(q.slice(), "default")).toEqual(q);
  });

  it("keeps a cosine of 0.8 between one request's forms in two contexts, whatever its length", () => {
    const cosines = Array.from({ length: 40 }, (_, i) => {
      const q = request().map((value) => value * (i + 1));
      return cosine(turnTowards(q.slice(), `coding ${i}`), turnTowards(q.slice(), `debugging ${i}`));
    });
    expect(cosines.reduce((sum, value) => sum + value) / cosines.length).toBeCloseTo(0.8, 1);
    expect(Math.min(...cosines)).toBeGreaterThan(0.6);
  });

  it("gives a context the same direction every time, after more contexts than are remembered", () => {
    const q = request();
    const before = turnTowards(q.slice(), "first");
    for (let i = 0; i < 1_100; i++) turnTowards(q.slice(), `context ${i}`);
    expect(turnTowards(q.slice(), "first")).toEqual(before);
  });
});
