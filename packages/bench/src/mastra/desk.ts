import { seededRandom, shuffle, uniformAt } from "@qavr/lab";

/** One kind of trouble that a support desk hears of again and again. */
interface Trouble {
  readonly thing: string;
  readonly symptom: string;
  /** Sounds right, since it says what the requests say, and makes it worse. */
  readonly wrong: string;
  readonly right: string;
}

const TROUBLES: readonly Trouble[] = [
  { thing: "export", symptom: "stops with a timeout", wrong: "raise the gateway limit", right: "split it by month" },
  {
    thing: "invoice",
    symptom: "shows a rounding difference",
    wrong: "edit the total by hand",
    right: "recompute the tax lines",
  },
  {
    thing: "login",
    symptom: "loops after the password",
    wrong: "reset the password again",
    right: "clear the session cookie",
  },
  { thing: "import", symptom: "rejects umlauts", wrong: "delete the umlauts", right: "save the file as UTF-8" },
  { thing: "calendar", symptom: "is off by one hour", wrong: "move every entry", right: "set the tenant's time zone" },
  { thing: "webhook", symptom: "arrives twice", wrong: "drop every second call", right: "use the idempotency header" },
  { thing: "search", symptom: "misses new articles", wrong: "restart the search node", right: "run the reindex job" },
  { thing: "report", symptom: "stays empty", wrong: "grant admin rights", right: "refresh the warehouse view" },
  { thing: "upload", symptom: "ends at ninety percent", wrong: "try another browser", right: "lower the chunk size" },
  { thing: "printer", symptom: "prints blank labels", wrong: "replace the toner", right: "choose the label tray" },
];

const LEADS = ["a customer says", "ticket from this morning:", "again:", "urgent,", "a partner writes that"] as const;
const TAILS = ["what should I do", "please help", "how do we fix it", "they are waiting", "any idea"] as const;
const PLACES = [
  "in Lyon",
  "for a new tenant",
  "since the update",
  "on Mondays",
  "at the head office",
  "in the pilot group",
] as const;

/** Chance of success of a run that remembers the right fix, the wrong one, both, and neither. */
const SUCCESS = { right: 0.95, wrong: 0.1, both: 0.55, neither: 0.35 } as const;

/** The request of one run, and its end given what the agent remembers. */
export interface Ticket {
  readonly text: string;
  /** The agent's answer; undefined when the run fails. */
  answer(prompt: string): string | undefined;
}

/** A note that a desk has before its first ticket. */
export interface Note {
  readonly text: string;
  /** Its age at the first ticket, days. */
  readonly age: number;
}

/** A seeded desk: what it has been told before its first ticket, and its tickets. */
export interface Desk {
  readonly notes: readonly Note[];
  ticket(run: number): Ticket;
}

/** How customers write: in words of their own, or from a form, where only the tenant's number differs. */
export type Wording = "own words" | "form";

/** Which notes were written a year before the others. @default none */
export type Outdated = "wrong" | "right";

const YEAR = 365;

/** @param seed draws the order of the notes, the tickets and their luck, whatever an agent does with them */
export function createDesk(seed: number, wording: Wording = "own words", outdated?: Outdated): Desk {
  const ageOf = (kind: Outdated): number => (kind === outdated ? YEAR : 0);
  const notes = TROUBLES.flatMap(({ thing, symptom, wrong, right }): Note[] => [
    { text: `when the ${thing} ${symptom}: ${wrong}`, age: ageOf("wrong") },
    { text: `${thing} trouble: ${right}`, age: ageOf("right") },
  ]);
  const pick = <T>(list: readonly T[], run: number, draw: number): T =>
    list[Math.floor(uniformAt(seed, run, draw) * list.length)] as T;
  return {
    notes: shuffle(notes, seededRandom(seed)),
    ticket(run) {
      const { thing, symptom, wrong, right } = pick(TROUBLES, run, 0);
      const text =
        wording === "form"
          ? `tenant ${100 + run}: the ${thing} ${symptom}, what should I do?`
          : `${pick(LEADS, run, 1)} the ${thing} ${symptom} ${pick(PLACES, run, 2)}, ${pick(TAILS, run, 3)}`;
      return {
        text,
        answer(prompt) {
          const [hasRight, hasWrong] = [prompt.includes(right), prompt.includes(wrong)];
          const chance = SUCCESS[hasRight ? (hasWrong ? "both" : "right") : hasWrong ? "wrong" : "neither"];
          if (uniformAt(seed, run, 4) >= chance) return undefined;
          return hasRight ? `Solved: ${right}.` : "Solved after a long search.";
        },
      };
    },
  };
}
