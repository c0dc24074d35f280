import {
  createWorld,
  DATASETS,
  type Dataset,
  loadDataset,
  type Split,
  splitDataset,
  type Truth,
  type World,
} from "@qavr/lab";
import { beforeAll, describe, expect, it } from "vitest";
import { labelChecker } from "../src/checker.js";
import { FakeChatModel } from "../src/fake-chat-model.js";
import { formatLessons, PROMPT, readAnswer, readPrompt } from "../src/prompt.js";

let dataset: Dataset;
let split: Split;
let world: World;
let truth: Truth;
let model: FakeChatModel;
beforeAll(async () => {
  dataset = await loadDataset("banking77");
  split = splitDataset(dataset, DATASETS.banking77);
  world = createWorld(split, 1);
  truth = world.truthAt(0);
  model = new FakeChatModel({ dataset, world });
});

const textOf = (lesson: string): string => world.lessons.find(({ id }) => id === lesson)?.text as string;
const ask = async (question: string, lessons: readonly string[]): Promise<string> => {
  const documents = lessons.map((lesson) => ({ pageContent: textOf(lesson), metadata: {} }));
  const prompt = await PROMPT.invoke({ question, lessons: formatLessons(documents) });
  return (await model.invoke(prompt)).text;
};
/** Share of right answers over the stream with these lessons. */
const rightShare = async (lessonsFor: (need: number) => readonly string[]): Promise<number> => {
  let right = 0;
  for (const {
    text,
    needs: [need = -1],
  } of world.stream) {
    if (readAnswer(await ask(text, lessonsFor(need))) === dataset.needs[need]?.name) right += 1;
  }
  return right / world.stream.length;
};

describe("the prompt", () => {
  it("can be read back: question and lessons, whatever line breaks, braces or dashes the texts hold", async () => {
    const documents = ["I paid\ntwice", "a {card} - lost", "top-up"].map((pageContent) => ({
      pageContent,
      metadata: {},
    }));
    const prompt = await PROMPT.invoke({ question: "Why {so}?\n- really", lessons: formatLessons(documents) });
    const read = readPrompt(
      prompt
        .toChatMessages()
        .map((message) => message.text)
        .join("\n"),
    );
    expect(read.lessons.slice(0, 3)).toEqual(["I paid twice", "a {card} - lost", "top-up"]);
    expect(read.question).toContain("Why {so}?");
  });
});

describe("the fake chat model", () => {
  it("answers the same prompt with the same answer", async () => {
    const [request] = world.stream as [World["stream"][number]];
    expect(await ask(request.text, truth.helpful(request.needs[0] as number))).toBe(
      await ask(request.text, truth.helpful(request.needs[0] as number)),
    );
  });

  it("is right as often as the world says, and only the lessons in the prompt move that", async () => {
    const expected = (lessonsFor: (need: number) => readonly string[]): number =>
      world.stream.reduce((sum, { needs }) => sum + truth.trueProbability(needs, lessonsFor(needs[0] as number)), 0) /
      world.stream.length;
    const helpful = (need: number): readonly string[] => truth.helpful(need).slice(0, 1);
    const misleading = (need: number): readonly string[] =>
      world.lessons
        .filter((lesson) => lesson.need === need && truth.quality(lesson.id) === "misleading")
        .map(({ id }) => id);
    for (const lessonsFor of [() => [], helpful, misleading]) {
      const margin = 3 * Math.sqrt(0.25 / world.stream.length);
      expect(Math.abs((await rightShare(lessonsFor)) - expected(lessonsFor))).toBeLessThan(margin);
    }
    expect(expected(helpful)).toBeGreaterThan(expected(() => []) + 0.3);
    expect(expected(misleading)).toBeLessThan(expected(() => []) - 0.05);
  });

  it("sees nothing but the prompt: lessons that were retrieved and left out of it change nothing", async () => {
    const bare = new FakeChatModel({ dataset, world });
    const { text } = world.stream[3] as World["stream"][number];
    const prompt = await PROMPT.invoke({ question: text, lessons: "" });
    const answers = new Set<string>();
    for (let call = 0; call < 3; call++)
      answers.add((await bare.invoke(prompt, { metadata: { lessons: ["m1", "m2"] } })).text);
    expect(answers.size).toBe(1);
  });

  it("has luck of its own for every seed", async () => {
    const other = new FakeChatModel({ dataset, world: { ...world, seed: 2 } });
    const isRight = async (who: FakeChatModel, text: string, need: number): Promise<boolean> => {
      const prompt = await PROMPT.invoke({ question: text, lessons: "" });
      return readAnswer((await who.invoke(prompt)).text) === dataset.needs[need]?.name;
    };
    let differences = 0;
    for (const {
      text,
      needs: [need = -1],
    } of world.stream.slice(0, 200)) {
      if ((await isRight(model, text, need)) !== (await isRight(other, text, need))) differences += 1;
    }
    expect(differences).toBeGreaterThan(20);
  });

  it("does not know what it was never taught", async () => {
    expect(await ask("What is the capital of France?", [])).toBe("I do not know.");
  });
});

describe("the checker", () => {
  it("says right for the label's intent, wrong for another one and for no answer, and nothing without a label", () => {
    const check = labelChecker(dataset);
    const {
      text,
      needs: [need = -1],
    } = dataset.texts[0] as Dataset["texts"][number];
    const other = dataset.needs.find((_, place) => place !== need)?.name;
    expect(check({ input: text, output: `Intent: ${dataset.needs[need]?.name}` })).toBe(true);
    expect(check({ input: text, output: `Intent: ${other}` })).toBe(false);
    expect(check({ input: text, output: "I do not know." })).toBe(false);
    expect(check({ input: text, output: undefined })).toBe(false);
    expect(check({ input: "never asked", output: "Intent: age_limit" })).toBeUndefined();
  });
});
