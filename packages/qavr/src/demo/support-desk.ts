import type { Candidate } from "@qavr/core";

/** A made-up support desk: kinds of request, and notes about them. Which notes help is decided here, and no ranking sees it. */
interface Kind {
  readonly name: string;
  readonly helpful: readonly string[];
  readonly neutral: readonly string[];
  readonly misleading: readonly string[];
}

const KINDS: readonly Kind[] = [
  {
    name: "a deploy fails",
    helpful: ["On EACCES, fix the owner of the build folder", "Roll back first, then read the deploy log"],
    neutral: ["Deploys run from the main branch", "The deploy channel is #ops"],
    misleading: ["Run the deploy again until it passes", "Delete the lock file of the deploy"],
  },
  {
    name: "a payment is declined",
    helpful: ["Ask for the decline code before anything else", "3-D Secure must be finished within ten minutes"],
    neutral: ["Payments are settled at midnight", "Invoices are sent as PDF"],
    misleading: ["Tell the customer to use another browser", "Charge the card once more"],
  },
  {
    name: "a login loops",
    helpful: ["Clock skew over five minutes breaks the token", "Clear the cookie of the old domain"],
    neutral: ["Sessions last twelve hours", "Logins are logged per region"],
    misleading: ["Reset the password again", "Switch off two-factor login"],
  },
  {
    name: "a report is empty",
    helpful: ["The warehouse sync lags: check its last run", "Time zones cut the last day off"],
    neutral: ["Reports are kept for a year", "Charts use the company colours"],
    misleading: ["Export to a spreadsheet instead", "Widen the filter to all teams"],
  },
];

/** Chance of success without a note, and the change by each helpful and each misleading note of the request's kind. */
const UNAIDED = 0.4;
const HELPS = 0.25;
const MISLEADS = -0.15;
/** Similarity to notes of the request's own kind and of others, the wording's part, and the extra of misleading notes, which sound right. */
const OWN = 0.5;
const OTHER = 0.2;
const WORDING = 0.25;
const SOUNDS_RIGHT = 0.1;
const MISLEADING_FROM = 4;

/** One request. */
export interface DeskRequest {
  readonly vector: readonly number[];
  readonly candidates: readonly Candidate[];
  /** True when the run succeeds with these notes, by id. */
  succeedsWith(shown: readonly string[]): boolean;
}

/** @param random uniform in [0, 1) */
export function nextRequest(random: () => number): DeskRequest {
  const kind = Math.floor(random() * KINDS.length);
  const vector = KINDS.map((_, i) => (i === kind ? 1 : 0) + (random() - 0.5) * 0.4);
  const candidates = KINDS.flatMap((other, i) =>
    [...other.helpful, ...other.neutral, ...other.misleading].map((label, place) => ({
      id: `${i}-${place}`,
      label,
      similarity: (i === kind ? OWN : OTHER) + (place >= MISLEADING_FROM ? SOUNDS_RIGHT : 0) + random() * WORDING,
    })),
  ).sort((a, b) => b.similarity - a.similarity);
  const luck = random();
  return {
    vector,
    candidates,
    succeedsWith(shown) {
      const places = shown.flatMap((id) => {
        const [of, place] = id.split("-").map(Number) as [number, number];
        return of === kind ? [place] : [];
      });
      const helpful = places.filter((place) => place < 2).length;
      const misleading = places.filter((place) => place >= MISLEADING_FROM).length;
      return luck < UNAIDED + helpful * HELPS + misleading * MISLEADS;
    },
  };
}
