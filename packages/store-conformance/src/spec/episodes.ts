import type { Store } from "@qavr/core";
import type { Reduce, StateWrite } from "@qavr/core/store";
import { expect } from "vitest";
import type { ConformanceTopic } from "../conformance-case.js";
import { entry } from "../fixtures/scripted-reduction.js";
import { writing } from "../fixtures/writing.js";

const utf8 = new TextEncoder();

/** The way the engine keeps aliases: a state in the scope `alias` whose bytes are the id of a state in the scope `episode`. */
function aliasing(episode: string, aliases: readonly string[], record: Uint8Array | null): Reduce {
  const value = record === null ? null : utf8.encode(episode);
  const pointers = aliases.map((id): StateWrite => ({ scope: "alias", id, value }));
  return writing({ scope: "episode", id: episode, value: record }, ...pointers);
}

async function byAlias(store: Store, alias: string): Promise<Uint8Array | undefined> {
  const [episode] = await store.readStates("n", "alias", [alias]);
  if (episode === undefined) return undefined;
  return (await store.readStates("n", "episode", [new TextDecoder().decode(episode)]))[0];
}

export const episodes: ConformanceTopic = {
  topic: "episodes by alias",
  cases: [
    {
      title: "finds an episode by each of its aliases",
      async run({ store }) {
        await store.commit("n", [entry("1")], aliasing("e1", ["run-1", "trace-1"], Uint8Array.of(1)));
        await store.commit("n", [entry("2")], aliasing("e2", ["run-2"], Uint8Array.of(2)));
        expect(await byAlias(store, "run-1")).toEqual(Uint8Array.of(1));
        expect(await byAlias(store, "trace-1")).toEqual(Uint8Array.of(1));
        expect(await byAlias(store, "run-2")).toEqual(Uint8Array.of(2));
        expect(await byAlias(store, "run-3")).toBeUndefined();
      },
    },
    {
      title: "lets a later alias win",
      async run({ store }) {
        await store.commit("n", [entry("1")], aliasing("e1", ["thread"], Uint8Array.of(1)));
        await store.commit("n", [entry("2")], aliasing("e2", ["thread"], Uint8Array.of(2)));
        expect(await byAlias(store, "thread")).toEqual(Uint8Array.of(2));
        expect(await store.readStates("n", "episode", ["e1"])).toEqual([Uint8Array.of(1)]);
      },
    },
    {
      title: "lets a reduction follow an alias that an earlier entry of the same call wrote",
      async run({ store }) {
        await store.commit("n", [entry("write"), entry("follow")], function* (sequenced) {
          if (sequenced.key === "write") return yield* aliasing("e1", ["run-1"], Uint8Array.of(7))(sequenced);
          const [episode] = yield [{ scope: "alias", id: "run-1" }];
          const id = new TextDecoder().decode(episode);
          const [followed] = yield [{ scope: "episode", id }];
          return [{ scope: "found", id: "episode", value: followed ?? null }];
        });
        expect(await store.readStates("n", "found", ["episode"])).toEqual([Uint8Array.of(7)]);
      },
    },
    {
      title: "forgets an episode and its aliases when they are removed",
      async run({ store }) {
        await store.commit("n", [entry("1")], aliasing("e1", ["run-1", "thread"], Uint8Array.of(1)));
        await store.commit("n", [entry("2")], aliasing("e2", ["run-2"], Uint8Array.of(2)));
        expect(await byAlias(store, "thread")).toEqual(Uint8Array.of(1));
        await store.commit("n", [entry("3")], aliasing("e1", ["run-1", "thread"], null));
        expect(await byAlias(store, "run-1")).toBeUndefined();
        expect(await byAlias(store, "thread")).toBeUndefined();
        expect(await store.readStates("n", "episode", ["e1"])).toEqual([undefined]);
        expect(await byAlias(store, "run-2")).toEqual(Uint8Array.of(2));
      },
    },
  ],
};
