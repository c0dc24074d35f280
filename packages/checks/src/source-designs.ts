import { globSync, readFileSync } from "node:fs";
import { repositoryFile } from "./repository.js";

/** The page that {@link sourceDesignsPage} makes. */
export const SOURCE_DESIGNS = "docs/reference/source-designs.md";

/**
 * - `works`: as the design says it
 * - `partly`: the note says which part is missing or another
 * - `otherwise`: decided otherwise; the note says why
 * - `not built`
 */
export type DesignState = "works" | "partly" | "otherwise" | "not built";

/** One requirement of a design. */
export interface DesignLine {
  /** Tests of it have it in their titles: `R6: …`, or `Q1, Q5: …`. */
  readonly code: string;
  readonly what: string;
  readonly state: DesignState;
  /** How, or why not; empty where there is nothing to add. */
  readonly note: string;
}

interface Design {
  /** With its first code's letter. */
  readonly about: string;
  readonly lines: readonly DesignLine[];
}

const line = (code: string, what: string, state: DesignState, note = ""): DesignLine => ({ code, what, state, note });

/** States of the lines of the page, in words. */
const STATES: Readonly<Record<Exclude<DesignState, "works">, string>> = {
  partly: "In part. ",
  otherwise: "",
  "not built": "Not built. ",
};

/** The four designs, by hand. */
export const DESIGNS: readonly Design[] = [
  {
    about:
      "- **Q**: the skill `qavr-memory`, a q-value mixed into the similarity; here the learner [`qValue()`](learners.md)",
    lines: [
      line("Q1", "score = (1 − α) · similarity + α · q; the host's order at α = 0", "works"),
      line("Q2", "cold below 100 episodes of a context, and learning all the while", "works"),
      line("Q3", "α = 0.3 once warm", "works"),
      line("Q4", "fetches 2 · n, returns n", "works"),
      line("Q5", "a q-value bridges at most 0.4286 of similarity", "works"),
      line("Q6", "similarities outside [0, 1] are mapped, and the ranking says so", "works"),
      line("Q7", "q ← q + 0.1 · (r − q)", "works", "At weight 1; an end without a verdict weighs 0.3."),
      line(
        "Q8",
        "rewards 1 used, 0.1 unused, −0.2 failed",
        "works",
        "Use is found in answers and tool calls, or reported.",
      ),
      line("Q9", "q stays in [0, 1]", "works"),
      line("Q10", "unused memories fade by 0.99 a day", "works"),
      line("Q11", "counts of accesses, successes, failures", "works", "Counted when the episode is recorded."),
      line("Q12", "its state file is read and written, unknown keys included", "works"),
      line("Q13", "a configuration block; `enabled: false` passes requests through", "works"),
      line(
        "Q14",
        "monitoring: tracked memories, mode, best and worst, progress",
        "works",
        "`qavr status` draws the progress.",
      ),
      line("Q15", "illegal numbers in a file are replaced, with a warning", "works"),
      line("Q16", "fading is the same however often it is read", "works"),
    ],
  },
  {
    about:
      "- **R**: agent memories of [warren](https://github.com/secmon-lab/warren) 0.8.2, [claims](../how-to/claims.md) and votes that a model writes after a task",
    lines: [
      line(
        "R1",
        "id, agent, task, embedding, claim, score, creation, last use",
        "works",
        "`agentClaims()`. With an embedding model, the collection keeps the embedding.",
      ),
      line("R2", "a memory is validated, each field with a message of its own", "works"),
      line("R3", "NaN is refused", "works"),
      line("R4", "new claims, helpful and harmful memories; a malformed answer writes nothing", "works"),
      line("R5", "claims are clear without their run", "works", "A claim with an error is not kept."),
      line(
        "R6",
        "an agent never sees, changes or prunes another's",
        "works",
        "In a collection. In a vector store by your filter on `qavr_namespace`.",
      ),
      line(
        "R7",
        "each claim is a memory of its own, with its task and embedding",
        "works",
        "And with an embedding of its own words.",
      ),
      line(
        "R8",
        "score = 0.3 · Δ + 0.7 · score, in ±10",
        "otherwise",
        "`score10()` has this arithmetic. Pruning has [another score](engine.md#pruning), since the original stays in (−3, 2).",
      ),
      line("R9", "a memory on both lists is harmful", "otherwise", "It gets no vote: what the model meant is unclear."),
      line(
        "R10",
        "selection by similarity, score and recency; scores below −5 are dropped",
        "otherwise",
        "`score10()` puts them last. Pruning archives them.",
      ),
      line("R11", "five candidates for each shown, at most 100; last use without a change of score", "works"),
      line(
        "R12",
        "pruning at −8, at −5 after 90 days, at −3 after 180 days",
        "works",
        "By the votes' score, which reaches them; by the original's none ever fires.",
      ),
      line(
        "R13",
        "scoring, selection and pruning can be replaced",
        "works",
        "A learner is a value, and so are the rules of pruning.",
      ),
    ],
  },
  {
    about:
      "- **P**: procedural memory of [AnimaWorks](https://github.com/xuiltul/animaworks), Markdown procedures with success counts; here [`@qavr/markdown`](../../packages/markdown/README.md)",
    lines: [
      line(
        "P1",
        "front matter with counts",
        "otherwise",
        "The ledger has the counts; `stamp` writes them under `metadata`, since skills allow no other fields.",
      ),
      line("P2", "front matter is read and written, bodies keep their bytes", "works", "All other bytes do."),
      line("P3", "files without front matter have defaults", "works"),
      line("P4", "broken front matter loses nothing", "works"),
      line("P5", "a missing description is a warning", "works", "A finding; the words of the file name stand for it."),
      line("P6", "a migration with a backup", "otherwise", "On request, with a dry run."),
      line(
        "P7",
        "one matcher in three tiers for skills and procedures",
        "partly",
        "Keywords come first; words and meaning have one scale, on which learning orders them.",
      ),
      line("P8", "a skill and a procedure may share a name", "works", "Neither comes first by its kind."),
      line("P9", "procedures have a budget of their own", "works", "In tokens, for each call."),
      line(
        "P10",
        "what was injected is recorded per session",
        "works",
        "In the episode: as shown, or as used when loaded.",
      ),
      line(
        "P11",
        "a list of matching procedures as pointers",
        "works",
        "Ids and descriptions of a search; `load` has the text.",
      ),
      line("P12", "without the retriever the other tiers still match", "works"),
      line("P13", "Japanese requests find Japanese procedures", "works"),
      line("P14", "the index follows writes", "works", "Every call looks for changed files first."),
      line("P15", "a failing indexer fails no write", "works", "A text without a vector is found by its words."),
      line("P16", "front matter is no part of the embedding", "works", "Name, description and tags are."),
      line("P17", "confidence = successes / (successes + failures)", "works", "At the present text."),
      line("P18", "paths that leave the folder are refused", "works", "Links are not followed."),
      line(
        "P19",
        "automatic and explicit reports: the explicit one wins, each run counts once",
        "otherwise",
        "The better tier wins: a run that threw over the agent's report.",
      ),
      line("P20", "an unknown result counts nothing", "works"),
      line(
        "P21",
        "eight boxes of acceptance",
        "partly",
        "Six hold: P3, P7, P14, P17, P19, and tests that cover 80 %; P1 and P6 on request.",
      ),
      line("P22", "parallel reports are all counted", "works", "Across processes, too."),
      line("P23", "runs are distilled into procedures", "works", "Drafts wait to be accepted."),
      line("P24", "a failing procedure is revised", "works", "After a [trial](../explanation/procedures.md#trials)."),
      line("P25", "unused and failing procedures are archived", "works", "With restore."),
      line("P26", "a proven procedure becomes a skill", "works"),
    ],
  },
  {
    about:
      "- **L**: lesson reinforcement of [hive](https://github.com/mlorentedev/hive), confidence that each reading raises; here `@qavr/markdown`, and the learner [`reinforcement()`](learners.md)",
    lines: [
      line("L1", "c ← min(1, c + 0.1 · (1 − c)), from 0.7", "works"),
      line("L2", "1 − (1 − c₀) · 0.9ⁿ is the same", "works"),
      line("L3", "a lesson begins with a confidence of its own", "works"),
      line("L4", "each showing counts once per query", "works"),
      line("L5", "ten parallel readings count ten", "works"),
      line("L6", "lessons from before need no migration", "works"),
      line(
        "L7",
        "an order per query: by match, count, confidence or both",
        "works",
        "Or by outcomes. An order never changes which lessons are found.",
      ),
      line("L8", "ties by last reading", "works"),
      line("L9", "0.7 · match + 0.3 · confidence", "works", "The match is divided by the best one."),
      line(
        "L10",
        "counts in a side table, Markdown untouched",
        "otherwise",
        "The ledger has the counts. `exportTable()` and `importTable()` write and read the table.",
      ),
      line("L11", "results carry counts, confidence, first and last reading", "works"),
      line("L12", "readme, changelog, tests", "works", "[`@qavr/markdown`](../../packages/markdown/README.md)."),
      line("L13", "headings in code are no lessons; a renamed heading keeps its counts", "works"),
    ],
  },
];

const TITLE = /["'`]((?:[QRPL]\d+)(?:, [QRPL]\d+)*): /g;

/** Test files by the codes in the titles of their tests, from the repository's root. */
export function testsByCode(): Map<string, string[]> {
  const found = new Map<string, Set<string>>();
  for (const path of globSync("packages/*/{src,test}/**/*.ts", { cwd: repositoryFile("") }).sort()) {
    // Suites that several test files share are among them.
    if (!/\/test\/|\.test\.ts$/.test(path)) continue;
    for (const [, codes = ""] of readFileSync(repositoryFile(path), "utf8").matchAll(TITLE)) {
      for (const code of codes.split(", ")) found.set(code, (found.get(code) ?? new Set()).add(path));
    }
  }
  return new Map([...found].map(([code, paths]) => [code, [...paths]]));
}

/** The whole page: the requirements that are not as designed. */
export function sourceDesignsPage(): string {
  const lines = DESIGNS.flatMap((design) => design.lines);
  const count = (state: DesignState): number => lines.filter((one) => one.state === state).length;
  return `<!-- Made by packages/checks/test/source-designs.test.ts from packages/checks/src/source-designs.ts. -->

# Source designs

qavr joins four published designs. Of their ${lines.length} requirements ${count("works")} work, ${count("partly")} work in part, ${count("otherwise")} are decided otherwise, and ${count("not built")} are not built.
[The list](../../packages/checks/src/source-designs.ts) has them all; here are those that differ.

${DESIGNS.map(({ about }) => about).join("\n")}

| | requirement | here |
|---|---|---|
${lines.flatMap(({ code, what, state, note }) => (state === "works" ? [] : [`| ${code} | ${what} | ${STATES[state]}${note} |`])).join("\n")}
`;
}
