import type { Internals } from "../internals.js";
import { failOpen } from "../ranking/rerank.js";
import type { RunSite } from "../runs/find-run.js";
import type { StoreOptions } from "./store-options.js";
import type { StoredItem } from "./stored-item.js";

/**
 * The texts of items, for people and models. Where the application's `textOf` fails they are those that items have without it.
 *
 * @throws only when failures of learning are to be thrown.
 */
export function itemTexts(
  internals: Internals,
  site: RunSite,
  items: readonly StoredItem[],
  { textOf }: Pick<StoreOptions, "textOf">,
): string[] {
  if (!textOf) return items.map(plainText);
  try {
    return items.map((item) => asText(textOf(item)));
  } catch (error) {
    failOpen(internals, site, error);
    return items.map(plainText);
  }
}

/** A value's only field if that is a text, else its JSON. */
function plainText({ value }: StoredItem): string {
  const fields = Object.values(value ?? {});
  const [only] = fields;
  if (fields.length === 1 && typeof only === "string") return only;
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    // A store in memory may hold what has no JSON.
    return String(value);
  }
}

function asText(text: unknown): string {
  if (typeof text === "string") return text;
  throw new TypeError(`textOf must return a text. It returned ${typeof text}.`);
}
