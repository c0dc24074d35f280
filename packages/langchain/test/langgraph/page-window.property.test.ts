import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blocksOf, pageWindow } from "../../src/langgraph/page-window.js";

const sizes = fc.record({
  length: fc.integer({ min: 0, max: 300 }),
  limit: fc.integer({ min: 1, max: 30 }),
  factor: fc.integer({ min: 1, max: 6 }),
  surplus: fc.integer({ min: 0, max: 7 }),
});

describe("the pages of a reranked list", () => {
  it("show every item exactly once, whatever each block's order is", () => {
    fc.assert(
      fc.property(sizes, ({ length, limit, factor, surplus }) => {
        const list = Array.from({ length }, (_, i) => i);
        const block = limit * factor + surplus;
        const seen: number[] = [];
        for (let offset = 0; offset < length + limit; offset += limit) {
          const window = pageWindow(offset, limit, block);
          const fetched = list.slice(window.offset, window.offset + window.limit);
          const reranked = blocksOf(fetched, block).flatMap((part) => [...part].reverse());
          const page = reranked.slice(window.start, window.start + limit);
          expect(page.length).toBe(Math.max(0, Math.min(limit, length - offset)));
          seen.push(...page);
        }
        expect(seen.toSorted((a, b) => a - b)).toEqual(list);
      }),
    );
  });

  it("ask the store for no more than the blocks that they touch", () => {
    expect(pageWindow(0, 10, 40)).toEqual({ offset: 0, limit: 40, block: 40, start: 0 });
    expect(pageWindow(30, 10, 40)).toEqual({ offset: 0, limit: 40, block: 40, start: 30 });
    expect(pageWindow(40, 10, 40)).toEqual({ offset: 40, limit: 40, block: 40, start: 0 });
    expect(pageWindow(35, 10, 40)).toEqual({ offset: 0, limit: 80, block: 40, start: 35 });
  });
});
