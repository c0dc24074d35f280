import { createEngine, memoryStore } from "@qavr/core";
import { loadDataset } from "../datasets/load-dataset.js";
import { seededRandom, shuffle } from "../random/seeded-random.js";

/** Share of the needed skills in a listing, by runs. */
export interface ListingResult {
  readonly seed: number;
  readonly alphabetical: number;
  /** In learned order. */
  readonly learned: readonly { readonly runs: number; readonly share: number }[];
}

const SKILLS = 165;
const NEEDED = 40;
/** Characters of names and descriptions that one host shows. */
const CHARACTERS = 15_000;
/** Characters of a description. */
const DESCRIPTION = 200;
const EVERY = 50;

export async function measureListing(seed: number, runs: number): Promise<ListingResult> {
  const random = seededRandom(seed);
  const [clinc, banking] = [await loadDataset("clinc150"), await loadDataset("banking77")];
  const all = [clinc, banking].flatMap(({ needs, texts }) =>
    needs.map(({ name }, place) => ({
      name,
      texts: texts.filter(({ needs: own }) => own[0] === place).map(({ text }) => text),
    })),
  );
  const skills = shuffle(all, random)
    .slice(0, SKILLS)
    .map(({ name, texts }) => ({
      id: `skill:${name}`,
      name,
      texts,
      description: texts.join(" ").slice(0, DESCRIPTION),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const needed = shuffle([...skills], random).slice(0, NEEDED);
  const fill = <Skill extends { readonly name: string; readonly description: string }>(
    ordered: readonly Skill[],
  ): Skill[] => {
    let left = CHARACTERS;
    return ordered.filter(({ name, description }) => {
      const length = name.length + description.length + 4;
      if (length > left) return false;
      left -= length;
      return true;
    });
  };
  const shareOf = (listed: readonly { readonly id: string }[]): number => {
    const ids = new Set(listed.map(({ id }) => id));
    return needed.filter(({ id }) => ids.has(id)).length / NEEDED;
  };
  const engine = createEngine({ store: memoryStore() });
  const candidates = skills.map(({ id, description }) => ({ id, similarity: 0, text: description }));
  // The same listing for every request: a host makes it when a session begins.
  const rank = async (record: boolean) => {
    const ranking = await engine.rank({ collection: "skills", candidates, topK: SKILLS, record });
    return { ranking, listed: fill(ranking.items.map(({ index }) => skills[index] as (typeof skills)[number])) };
  };
  const learned: { runs: number; share: number }[] = [];
  for (let run = 0; run <= runs; run++) {
    if (run % EVERY === 0) learned.push({ runs: run, share: shareOf((await rank(false)).listed) });
    if (run === runs) break;
    const { ranking, listed } = await rank(true);
    engine.narrow(
      ranking.episode,
      ranking.exposure,
      listed.map(({ id }) => id),
    );
    // Some skills are needed far more often than others.
    const wanted = needed[Math.floor(NEEDED * random() ** 2)] as (typeof needed)[number];
    const isListed = listed.some(({ id }) => id === wanted.id);
    await engine.end(ranking.episode, { reward: isListed, used: isListed ? [wanted.id] : [], tier: "verified" });
  }
  await engine.close();
  return { seed, alphabetical: shareOf(fill(skills)), learned };
}
