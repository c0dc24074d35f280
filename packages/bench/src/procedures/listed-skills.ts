import { loadDataset, type Random, seededRandom, shuffle } from "@qavr/lab";

/** A need of clinc150 or banking77 as a skill. */
export interface ListedSkill {
  readonly name: string;
  /** Requests that it serves, as far as they fit. */
  readonly description: string;
  /** Other requests that it serves. */
  readonly requests: readonly string[];
}

/** Skills by name, those of them that are ever needed, and draws of the next one needed. */
export interface SkillWorld {
  readonly skills: readonly ListedSkill[];
  readonly needed: readonly ListedSkill[];
  /** Some skills are needed far more often than others. */
  draw(): ListedSkill;
  readonly random: Random;
}

const SKILLS = 165;
const NEEDED = 40;
/** Characters of names and descriptions that one host shows. */
export const CHARACTERS = 15_000;
/** Characters of a description. */
const DESCRIPTION = 200;

export async function skillWorld(seed: number): Promise<SkillWorld> {
  const random = seededRandom(seed);
  const [clinc, banking] = [await loadDataset("clinc150"), await loadDataset("banking77")];
  const all = [clinc, banking].flatMap(({ needs, texts }) =>
    needs.map(({ name }, place) => ({
      name: name
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, "-")
        .replace(/^-|-$/g, ""),
      texts: texts.filter(({ needs: own }) => own[0] === place).map(({ text }) => text),
    })),
  );
  const skills = shuffle(all, random)
    .slice(0, SKILLS)
    .map(({ name, texts }) => {
      const description = texts.join(" ").slice(0, DESCRIPTION);
      return { name, description, requests: texts.filter((text) => !description.includes(text.slice(0, 20))) };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const needed = shuffle([...skills], random).slice(0, NEEDED);
  return { skills, needed, random, draw: () => needed[Math.floor(NEEDED * random() ** 2)] as ListedSkill };
}

/** Share of the needed skills that are in a listing. */
export function shareListed(needed: readonly ListedSkill[], listed: readonly { readonly name: string }[]): number {
  const names = new Set(listed.map(({ name }) => name));
  return needed.filter(({ name }) => names.has(name)).length / needed.length;
}
