import { createEngine, type Engine, memoryStore, QavrError, type Ranking } from "@qavr/core";
import { exportState } from "@qavr/core/maintenance";
import { seededRandom } from "@qavr/lab";
import { type CheckResult, type Harness, mutantResult } from "./check.js";

const CHANGES = { quick: 60, full: 1_000 } as const;
const TAUGHT = 40;
const FIRST = { space: "model-a/8", length: 8 } as const;

const candidates = Array.from({ length: 12 }, (_, i) => ({ id: `m${i}`, similarity: 0.9 - i / 40 }));

/** A direction that belongs to a request, in a space of so many dimensions. */
function vectorOf(request: number, length: number): number[] {
  const random = seededRandom(request + 1);
  return Array.from({ length }, () => random() - 0.5);
}

async function taught(): Promise<{ readonly engine: Engine; readonly warned: () => number }> {
  let warnings = 0;
  const logger = {
    warn(_: string, { code }: { readonly code: string }): void {
      if (code === "SPACE_CHANGED") warnings += 1;
    },
  };
  const engine = createEngine({ store: memoryStore(), clock: () => 1_767_225_600_000, logger });
  for (let run = 0; run < TAUGHT; run++) {
    const { episode, items } = await engine.rank({
      candidates,
      topK: 4,
      space: FIRST.space,
      vector: vectorOf(run % 5, FIRST.length),
    });
    await engine.end(episode, { reward: !items.some(({ id }) => id === "m0"), tier: "verified" });
  }
  return { engine, warned: () => warnings };
}

const orderOf = ({ items }: Ranking): string => JSON.stringify(items.map(({ id, score }) => [id, score]));

/** Asks with another embedding model again and again, and in between with the first one. */
async function change(times: number, named: boolean): Promise<readonly string[]> {
  const { engine, warned } = await taught();
  const random = seededRandom(7);
  const ask = (vector: number[], space: string): Promise<Ranking> =>
    engine.rank({ candidates, topK: 4, vector, space: named ? space : FIRST.space, record: false });
  const before = await Promise.all(
    [0, 1, 2, 3, 4].map(async (request) => orderOf(await ask(vectorOf(request, FIRST.length), FIRST.space))),
  );
  const evidence = JSON.stringify((await exportState(engine)).memories.map(({ id }) => id));
  const broken: string[] = [];
  const spaces = new Set<string>();
  for (let time = 0; time < times; time++) {
    // Another name, another length, or both; the same length under another name is the change that nothing else would show.
    const length = random() < 0.4 ? FIRST.length : 1 + Math.floor(400 * random());
    const space =
      random() < 0.3 ? FIRST.space : `model-${String.fromCharCode(98 + Math.floor(20 * random()))}/${length}`;
    const asked = await ask(vectorOf(time, length), space).catch((error: unknown) => error);
    const same = space === FIRST.space;
    if (same && length !== FIRST.length) {
      if (!QavrError.isInstance(asked, "INVALID_VECTOR")) broken.push(`${length} values in ${space} were not refused`);
    } else if (QavrError.isInstance(asked)) broken.push(`${space}: ${asked.code}`);
    else if (!same) {
      spaces.add(space);
      // Without a direction in common, what was learned of m0 whatever the request still counts.
      const first = (asked as Ranking).items[0]?.id;
      if (first === "m0") broken.push(`${space}: what was learned is gone`);
    }
    const request = time % 5;
    if (orderOf(await ask(vectorOf(request, FIRST.length), FIRST.space)) !== before[request])
      broken.push("the first space ranks otherwise");
  }
  if (warned() !== spaces.size) broken.push(`${warned()} warnings for ${spaces.size} spaces`);
  if (JSON.stringify((await exportState(engine)).memories.map(({ id }) => id)) !== evidence)
    broken.push("states were lost");
  return broken;
}

export const embeddingChanges: Harness = {
  name: "embedding changes",
  async run(size): Promise<readonly CheckResult[]> {
    const broken = await change(CHANGES[size], true);
    const mutant = await change(CHANGES.quick, false);
    return [
      {
        promise: "R17",
        what: "requests from another embedding model, by name, by length or by both",
        tried: `${CHANGES[size].toLocaleString("en")} changes`,
        seen:
          broken.length === 0
            ? "each refused, or warned of once and ranked by what holds in any space; nothing learned was lost"
            : `${broken.length} broken: ${broken.slice(0, 3).join("; ")}`,
        held: broken.length === 0,
      },
      mutantResult({
        what: "names no embedding model",
        tried: `${CHANGES.quick} changes`,
        seen: `${mutant.length} faults seen`,
        held: mutant.length > 0,
      }),
    ];
  },
};
