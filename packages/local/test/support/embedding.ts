/** Stands for an embedding model: counts words of a few meanings. It notes the texts that it was given, and fails while `down`. */
export class MeaningModel {
  readonly given: string[] = [];
  down = false;

  /** @param meanings Words that mean the same, per dimension. */
  constructor(readonly meanings: readonly (readonly string[])[]) {}

  readonly embed = async (texts: readonly string[]): Promise<number[][]> => {
    if (this.down) throw new TypeError("the model is down");
    this.given.push(...texts);
    return texts.map((text) => {
      const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
      return [...this.meanings.map((same) => words.filter((word) => same.includes(word)).length), 0.01];
    });
  };
}

export const MEANINGS: readonly (readonly string[])[] = [
  ["car", "automobile", "vehicle"],
  ["fast", "quick"],
  ["cake", "pastry"],
  ["oven"],
];
