import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { knownDirection } from "../src/ranking/score-directions.js";

/** Their direction follows a configured metric, so that no table can know it. */
const METRIC = ["googlevertexai", "hanadb", "milvus", "myscale", "rockset", "singlestore"];
/** Give no score at all, or no vector search. */
const SCORELESS = ["lancedb", "vectara"];
/** Stores in packages of their own. */
const ELSEWHERE: Readonly<Record<string, "similarity" | "distance">> = {
  closevector: "similarity",
  cloudflare_vectorize: "similarity",
  memory: "similarity",
  mongodb_atlas: "similarity",
  pinecone: "similarity",
  qdrant: "similarity",
  redis: "distance",
  // Its documentation says similarity.
  weaviate: "distance",
};

/** The types of the stores of @langchain/community, with their sources. */
function communityStores(): [type: string, source: string][] {
  const folder = dirname(createRequire(import.meta.url).resolve("@langchain/community/vectorstores/hnswlib"));
  return readdirSync(folder)
    .filter((file) => file.endsWith(".js"))
    .flatMap((file) => {
      const source = readFileSync(join(folder, file), "utf8");
      const type = /_vectorstoreType\(\) \{\s*return "([^"]+)"/.exec(source)?.[1];
      return type === undefined ? [] : [[type, source]];
    });
}

const directionOf = (type: string): unknown => knownDirection({ _vectorstoreType: () => type });

describe("the table of stores", () => {
  it("knows each store of @langchain/community, but those whose direction nobody can know", () => {
    const stores = communityStores();
    expect(stores.length).toBeGreaterThan(30);
    const unknown = stores.map(([type]) => type).filter((type) => directionOf(type) === undefined);
    expect(unknown.sort()).toEqual([...METRIC, ...SCORELESS].sort());
  });

  it("says distance where a store's query computes one, and similarity where it computes that", () => {
    const signs: [sign: RegExp, direction: string][] = [
      [/result\.distances|l2_distance|L2Distance|VEC_DISTANCE_|APPROX_VECTOR_DISTANCE/, "distance"],
      [/1 - vector_distance_cos|vectorSearchScore|\$similarity|\$meta/, "similarity"],
    ];
    const checked = communityStores().flatMap(([type, source]) =>
      signs.flatMap(([sign, direction]) => (sign.test(source) && !METRIC.includes(type) ? [[type, direction]] : [])),
    );
    expect(checked.length).toBeGreaterThan(6);
    for (const [type, direction] of checked) expect([type, directionOf(type as string)]).toEqual([type, direction]);
  });

  it("knows stores of other packages", () => {
    for (const [type, direction] of Object.entries(ELSEWHERE))
      expect([type, directionOf(type)]).toEqual([type, direction]);
  });

  it("knows nothing of what does not say what it is", () => {
    for (const store of [undefined, null, {}, { _vectorstoreType: () => 7 }, { _vectorstoreType: "memory" }]) {
      expect(knownDirection(store)).toBeUndefined();
    }
    expect(directionOf("toString")).toBeUndefined();
  });
});
