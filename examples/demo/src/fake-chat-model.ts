import { type BaseChatModelParams, SimpleChatModel } from "@langchain/core/language_models/chat_models";
import type { BaseMessage } from "@langchain/core/messages";
import { type Dataset, uniformAt, type World } from "@qavr/lab";
import { formatAnswer, oneLine, readPrompt } from "./prompt.js";

/** Places of the model's independent draws. */
const DRAW = { luck: 1, mistake: 2 } as const;

/** Stand-in for a model's understanding: the need of each question, and the lessons that help with it. */
export interface FakeChatModelFields extends BaseChatModelParams {
  readonly dataset: Dataset;
  readonly world: World;
}

/**
 * The only simulated part of the demo. It reads the prompt and nothing else, knows how much each lesson in it helps or misleads
 * for such a question, and answers rightly with the probability that the world gives for that. Its luck belongs to the seed
 * and the question: rankers that put the same lessons into the prompt get the same answer.
 */
export class FakeChatModel extends SimpleChatModel {
  readonly #dataset: Dataset;
  readonly #world: World;
  readonly #needs: ReadonlyMap<string, number>;
  readonly #lessons: ReadonlyMap<string, string>;

  static override lc_name(): string {
    return "FakeChatModel";
  }

  constructor({ dataset, world, ...fields }: FakeChatModelFields) {
    super(fields);
    this.#dataset = dataset;
    this.#world = world;
    this.#needs = new Map(dataset.texts.map(({ text, needs: [need] }) => [oneLine(text), need as number]));
    this.#lessons = new Map(world.lessons.map(({ text, id }) => [oneLine(text), id]));
  }

  override _llmType(): string {
    return "fake-chat-model";
  }

  override async _call(messages: BaseMessage[]): Promise<string> {
    const { question, lessons } = readPrompt(messages.map((message) => message.text).join("\n"));
    const asked = oneLine(question);
    const need = this.#needs.get(asked);
    if (need === undefined) return "I do not know.";
    const shown = lessons.flatMap((lesson) => this.#lessons.get(lesson) ?? []);
    const probability = this.#world.truthAt(0).trueProbability([need], shown);
    const right = uniformAt(this.#world.seed, DRAW.luck, hashOf(asked)) < probability;
    return formatAnswer(this.#nameOf(right ? need : this.#mistake(need, asked)));
  }

  #nameOf(need: number): string {
    return (this.#dataset.needs[need] as { name: string }).name;
  }

  /** Some other intent. */
  #mistake(need: number, asked: string): number {
    const others = this.#dataset.needs.length - 1;
    const steps = 1 + Math.floor(uniformAt(this.#world.seed, DRAW.mistake, hashOf(asked)) * others);
    return (need + steps) % this.#dataset.needs.length;
  }
}

/** FNV-1a over UTF-16 units: a number that belongs to a text. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}
