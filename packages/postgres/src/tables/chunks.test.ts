import { describe, expect, it } from "vitest";
import { chunks } from "./chunks.js";

const sizes = (rows: readonly number[]): number[] => [...chunks(rows, (row) => row)].map((chunk) => chunk.length);
const MiB = 1024 * 1024;

describe("chunks", () => {
  it("keeps rows in order and loses none", () => {
    const rows = Array.from({ length: 4_321 }, (_, i) => i);
    expect([...chunks(rows, () => 1)].flat()).toEqual(rows);
  });

  it("cuts by rows, and by bytes where they are large", () => {
    expect(sizes([])).toEqual([]);
    expect(sizes(Array(4_001).fill(1))).toEqual([2_000, 2_000, 1]);
    expect(sizes(Array(20).fill(MiB))).toEqual([8, 8, 4]);
  });

  it("gives a row that is larger than a chunk one of its own", () => {
    expect(sizes([1, 9 * MiB, 1])).toEqual([1, 1, 1]);
  });
});
