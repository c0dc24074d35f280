import { createEngine, memoryStore } from "@qavr/core";
import { loadDataset, seededRandom, shuffle } from "@qavr/lab";
import { openProcedures } from "@qavr/markdown";
import { inFolder } from "./corpus.js";

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
      id: `procedure:${name}`,
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
      const length = name.length + description.length;
      if (length > left) return false;
      left -= length;
      return true;
    });
  };
  const shareOf = (listed: readonly { readonly id: string }[]): number => {
    const ids = new Set(listed.map(({ id }) => id));
    return needed.filter(({ id }) => ids.has(id)).length / NEEDED;
  };
  const files = Object.fromEntries(
    skills.map(({ name, description }) => [
      `procedures/${name}.md`,
      `---\ndescription: ${JSON.stringify(description)}\n---\nSteps.\n`,
    ]),
  );
  return inFolder(files, async (root) => {
    const engine = createEngine({ store: memoryStore() });
    const procedures = openProcedures(root, { engine });
    const learned: { runs: number; share: number }[] = [];
    for (let run = 0; run <= runs; run++) {
      const { procedures: listed, episode } = await procedures.listing({ characters: CHARACTERS });
      if (run % EVERY === 0) learned.push({ runs: run, share: shareOf(listed) });
      // Some skills are needed far more often than others.
      const wanted = needed[Math.floor(NEEDED * random() ** 2)] as (typeof needed)[number];
      const isListed = listed.some(({ id }) => id === wanted.id);
      if (isListed) await procedures.load(wanted.id, { episode });
      await engine.report(episode, { reward: isListed, tier: "verified" });
    }
    await procedures.close();
    await engine.close();
    return { seed, alphabetical: shareOf(fill(skills)), learned };
  });
}
