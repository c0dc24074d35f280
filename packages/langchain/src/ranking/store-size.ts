/** Native indexes that say how many vectors they hold, by the name of the method. */
const COUNTERS = ["getCurrentCount", "ntotal", "size"] as const;

/**
 * How many documents an embedded store holds (HNSWLib, FAISS, USearch), undefined where it does not say. Those stores print
 * a warning when they are asked for more than that.
 */
export function storeSize(store: object): number | undefined {
  try {
    // HNSWLib's getter throws while the index is empty.
    const index = (store as { index?: unknown }).index as Record<string, unknown> | null | undefined;
    if (typeof index !== "object" || index === null) return undefined;
    for (const counter of COUNTERS) {
      const count = index[counter];
      const size: unknown = typeof count === "function" ? count.call(index) : undefined;
      if (typeof size === "number" && Number.isInteger(size)) return size;
    }
    return undefined;
  } catch {
    return undefined;
  }
}
