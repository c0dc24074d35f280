/** Which part of a store's list has to be fetched for a page of the reranked one. */
export interface PageWindow {
  /** The part of the list to ask the store for. */
  readonly offset: number;
  readonly limit: number;
  /** Length of the blocks that are reranked by themselves. */
  readonly block: number;
  /** First item of the page inside what was fetched. */
  readonly start: number;
}

/**
 * The list is cut into blocks of the over-fetched size, each of which is reranked by itself, so that every page of one size sees
 * the same order: `block` = over-fetch for `limit`, and the page [offset, offset + limit) lies in one block or across two. Fetching
 * more for later pages instead would rank them among other candidates, and show some items twice and others never.
 */
export function pageWindow(offset: number, limit: number, block: number): PageWindow {
  const first = Math.floor(offset / block) * block;
  const end = Math.ceil((offset + limit) / block) * block;
  return { offset: first, limit: end - first, block, start: offset - first };
}

/** The fetched list in its blocks. */
export function blocksOf<Item>(items: readonly Item[], block: number): Item[][] {
  const blocks: Item[][] = [];
  for (let start = 0; start < items.length; start += block) blocks.push(items.slice(start, start + block));
  return blocks;
}
