import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryStore } from "../src/index.js";
import { COLLECTIONS, type Command, command, newSession, run } from "./support/commands.js";
import { HOSTILE_NAMES } from "./support/hostile-text.js";
import { snapshot, testEngine } from "./support/test-engine.js";

const NAMESPACES = [...HOSTILE_NAMES.slice(0, 12), "default"];

const step: fc.Arbitrary<{ readonly namespace: string; readonly command: Command }> = fc.record({
  namespace: fc.constantFrom(...NAMESPACES),
  command,
});

/** Ids that depend on what a namespace did itself, never on what others did meanwhile. */
function idsOf(): { readonly createId: () => string; at(namespace: string): void } {
  const counts = new Map<string, number>();
  let current = "";
  return {
    at(namespace) {
      current = namespace;
    },
    createId() {
      const count = (counts.get(current) ?? 0) + 1;
      counts.set(current, count);
      return `${current}/${count}`;
    },
  };
}

describe("namespaces with hostile names", () => {
  it("in one engine are what they would be in an engine each, whatever the others do in between", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 120, size: "max" }), async (steps) => {
        const shared = { store: memoryStore(), ids: idsOf() };
        const together = testEngine({ store: shared.store, createId: shared.ids.createId }).engine;
        const sessions = new Map(NAMESPACES.map((namespace) => [namespace, newSession(namespace)]));
        const alone = new Map(
          NAMESPACES.map((namespace) => {
            const ids = idsOf();
            ids.at(namespace);
            const store = memoryStore();
            const { engine } = testEngine({ store, createId: ids.createId });
            return [namespace, { engine, store, session: newSession(namespace) }];
          }),
        );
        for (const { namespace, command: next } of steps) {
          shared.ids.at(namespace);
          const single = alone.get(namespace) as NonNullable<ReturnType<typeof alone.get>>;
          const answer = await run(together, sessions.get(namespace) as ReturnType<typeof newSession>, next);
          expect(answer).toEqual(await run(single.engine, single.session, next));
        }
        for (const [namespace, single] of alone) {
          for (const collection of COLLECTIONS) {
            expect(await snapshot(shared.store, namespace, collection)).toEqual(
              await snapshot(single.store, namespace, collection),
            );
          }
          expect(await together.status({ namespace })).toEqual(await single.engine.status({ namespace }));
        }
        const used = (await shared.store.namespaces({ limit: 100 })).toSorted();
        const expected = [];
        for (const [namespace, { store }] of alone) if ((await store.head(namespace)) > 0) expected.push(namespace);
        expect(used).toEqual(expected.toSorted());
      }),
      { numRuns: 60 },
    );
  });
});
