import { createEngine, memoryStore } from "@qavr/core";
import { withinBudget } from "@qavr/core/adapter";
import { openProcedures } from "@qavr/markdown";
import { countedIds } from "../learning/arm.js";
import { inFolder } from "./corpus.js";
import { CHARACTERS, shareListed, skillWorld } from "./listed-skills.js";

/** Share of the needed skills in a listing, by runs. */
export interface ListingResult {
  readonly seed: number;
  readonly alphabetical: number;
  /** In learned order. */
  readonly learned: readonly { readonly runs: number; readonly share: number }[];
}

const EVERY = 50;

export async function measureListing(seed: number, runs: number): Promise<ListingResult> {
  const { skills, needed, draw } = await skillWorld(seed);
  const files = Object.fromEntries(
    skills.map(({ name, description }) => [
      `procedures/${name}.md`,
      `---\ndescription: ${JSON.stringify(description)}\n---\nSteps.\n`,
    ]),
  );
  return inFolder(files, async (root) => {
    const engine = createEngine({ store: memoryStore(), createId: countedIds(seed) });
    const procedures = openProcedures(root, { engine });
    const learned: { runs: number; share: number }[] = [];
    for (let run = 0; run <= runs; run++) {
      const { procedures: listed, episode } = await procedures.listing({ characters: CHARACTERS });
      if (run % EVERY === 0) learned.push({ runs: run, share: shareListed(needed, listed) });
      const wanted = draw();
      const isListed = listed.some(({ name }) => name === wanted.name);
      if (isListed) await procedures.load(`procedure:${wanted.name}`, { episode });
      await engine.report(episode, { reward: isListed, tier: "verified" });
    }
    await procedures.close();
    await engine.close();
    const first = withinBudget(skills, CHARACTERS, ({ name, description }) => name.length + description.length);
    return { seed, alphabetical: shareListed(needed, first), learned };
  });
}
