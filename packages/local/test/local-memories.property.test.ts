import fc from "fast-check";
import { expect, it } from "vitest";
import { localMemories } from "../src/index.js";

const IDS = ["a", "b", "c", "d"];
const id = fc.constantFrom(...IDS);
const text = fc
  .array(fc.constantFrom("cache", "deploy", "worker", "日本", "é"), { minLength: 1, maxLength: 4 })
  .map((words) => words.join(" "));
const namespace = fc.constantFrom("default", "other");

const command = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), id, text, namespace }),
  fc.record({ kind: fc.constant("update" as const), id, text, namespace }),
  fc.record({ kind: fc.constantFrom("delete" as const, "archive" as const, "restore" as const), id, namespace }),
);

it("equals a map after any sequence of calls, and finds exactly what it holds", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 30 }), async (commands) => {
      const memories = localMemories({ path: ":memory:" });
      const model = new Map<string, { text: string; archived: boolean }>();
      for (const step of commands) {
        const key = `${step.namespace}/${step.id}`;
        const own = memories.of(step.namespace);
        const known = model.get(key);
        if (step.kind === "add") {
          await own.add({ id: step.id, text: step.text });
          model.set(key, { text: step.text, archived: false });
        } else if (step.kind === "update") {
          await own.update(step.id, { text: step.text });
          if (known) known.text = step.text;
        } else {
          await own[step.kind](step.id);
          if (step.kind === "delete") model.delete(key);
          else if (known) known.archived = step.kind === "archive";
        }
      }
      for (const name of ["default", "other"]) {
        const own = memories.of(name);
        const live = IDS.filter((one) => model.get(`${name}/${one}`)?.archived === false);
        expect(await own.size()).toBe(live.length);
        for (const word of ["cache", "deploy", "worker", "日本", "e"]) {
          const hits = await own.search({ text: word });
          const expected = live.filter((one) =>
            model
              .get(`${name}/${one}`)
              ?.text.normalize("NFD")
              .replace(/\u0301/g, "")
              .split(" ")
              .includes(word),
          );
          expect(hits.map((hit) => hit.id).sort()).toEqual(expected);
        }
      }
      await memories.close();
    }),
    { numRuns: 60 },
  );
});

it("has similarities by words that are BM25", async () => {
  const words = fc.array(fc.constantFrom<string>("a", "b", "c", "d", "e"), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(fc.array(words, { minLength: 1, maxLength: 12 }), words, async (texts, request) => {
      const memories = localMemories({ path: ":memory:" });
      await memories.add(texts.map((text, i) => ({ id: String(i), text: text.join(" ") })));
      const average = texts.flat().length / texts.length;
      const idf = (word: string): number => {
        const having = texts.filter((text) => text.includes(word)).length;
        return Math.max(1e-6, Math.log((texts.length - having + 0.5) / (having + 0.5)));
      };
      const asked = [...new Set(request)];
      const highest = asked.reduce((sum, word) => sum + idf(word), 0);
      const expected = texts.map((text) => {
        const share = (times: number): number => times / (times + 1.2 * (0.25 + (0.75 * text.length) / average));
        const of = (word: string): number => idf(word) * share(text.filter((one) => one === word).length);
        return asked.reduce((sum, word) => sum + of(word), 0) / highest;
      });
      const hits = await memories.search({ text: request.join(" "), limit: 20 });
      expect(hits).toHaveLength(expected.filter((similarity) => similarity > 0).length);
      for (const { id, similarity } of hits) expect(similarity).toBeCloseTo(expected[Number(id)] as number, 9);
      const order = hits.map(({ similarity }) => similarity);
      expect(order).toEqual(order.toSorted((a, b) => b - a));
      await memories.close();
    }),
    { numRuns: 100 },
  );
});

it("searches any text without throwing", async () => {
  const memories = localMemories({ path: ":memory:" });
  await memories.add(["clear the cache", "日本語の手順", 'AND OR NOT NEAR "quoted" -minus col:on *']);
  const piece = fc.constantFrom(..."\"*^:(){}[]-+~ANDORNOTNEAR \u0000\ud800'%_;/\\日本語a b c\n\t🦆");
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.array(piece).map((all) => all.join("")),
      ),
      async (request) => {
        expect(Array.isArray(await memories.search({ text: request, limit: 5 }))).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
  await memories.close();
});
