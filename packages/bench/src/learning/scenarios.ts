import type { Scenario, Sources } from "@qavr/lab";

export type ScenarioName =
  | "main"
  | "clean"
  | "poison-50"
  | "k-3"
  | "zipf"
  | "drift"
  | "flips-10"
  | "flips-30"
  | "coin-toss"
  | "scores"
  | "longer"
  | "repeats"
  | "inverted-600"
  | "inverted"
  | "sources-honest"
  | "sources-10-wrong"
  | "sources-half-lie"
  | "sources-half-lie-5"
  | "sources-half-turn"
  | "sources-8-lie"
  | "sources-all-lie"
  | "sources-coin"
  | "one-need";

/** Purpose of a scenario: it decides where the scenario is run and reported. */
export type ScenarioKind = "main" | "stress" | "harmless" | "sources" | "narrow";

export interface NamedScenario {
  readonly kind: ScenarioKind;
  /** One line for reports. */
  readonly about: string;
  /** True if every outcome is honest, if noisy: learning must not hurt much in such a world. */
  readonly honest: boolean;
  readonly settings: Scenario;
}

/** Ten sources claim the outcome of 70 % of the runs; 7 % are verified. */
const TEN_SOURCES: Sources = { count: 10, claimed: 0.7, verified: 0.07, liars: 0, lyingFrom: 0, error: 0 };

const stress = (about: string, settings: Scenario, honest = true): NamedScenario => ({
  kind: "stress",
  about,
  honest,
  settings,
});

const sources = (about: string, settings: Partial<Sources>): NamedScenario => ({
  kind: "sources",
  about,
  honest: false,
  settings: { sources: { ...TEN_SOURCES, ...settings } },
});

/** The worlds, in the order of reports. */
export const SCENARIOS: Readonly<Record<ScenarioName, NamedScenario>> = {
  main: {
    kind: "main",
    about: "half of the memories help, three in ten mislead; 5 shown; every run is checked",
    honest: true,
    settings: {},
  },
  clean: stress("every memory helps", { poison: 0, neutral: 0 }),
  "poison-50": stress("half of the memories mislead", { poison: 0.5 }),
  "k-3": stress("3 memories are shown", { k: 3 }),
  zipf: stress("the r-th need is asked in proportion to 1 / r^1.1", { zipf: 1.1 }),
  drift: stress("half of the needs get new qualities at run 1,500", { driftAt: 1500 }),
  "flips-10": stress("10 % of the outcomes are flipped", { flip: 0.1 }),
  "flips-30": stress("30 % of the outcomes are flipped", { flip: 0.3 }),
  "coin-toss": stress("outcomes are tossed with a coin", { coinToss: true }),
  scores: stress("a judge gives 0.6 for failures and 0.8 for successes", { scores: [0.6, 0.8] }),
  longer: {
    kind: "harmless",
    about: "3,000 runs, also where requests then come again",
    honest: true,
    settings: { poison: 0, neutral: 0, runs: 3000 },
  },
  repeats: {
    kind: "harmless",
    about: "150 requests, ten times each",
    honest: true,
    settings: { poison: 0, neutral: 0, distinct: 150, runs: 1500 },
  },
  "inverted-600": stress("the first 600 outcomes are inverted", { invertedUntil: 600 }, false),
  inverted: stress("all outcomes are inverted", { invertedUntil: Number.POSITIVE_INFINITY }, false),
  "sources-honest": sources("all ten are honest", {}),
  "sources-10-wrong": sources("10 % of their claims are wrong", { error: 0.1 }),
  "sources-half-lie": sources("half of the sources invert", { liars: 5 }),
  "sources-half-lie-5": sources("half invert, 5 % of the runs are verified", {
    liars: 5,
    verified: 0.05,
  }),
  "sources-half-turn": sources("half turn liars at run 800", { liars: 5, lyingFrom: 800 }),
  "sources-8-lie": sources("eight of ten sources invert", { liars: 8 }),
  "sources-all-lie": sources("all ten sources invert", { liars: 10 }),
  "sources-coin": sources("every claim is a coin toss", { error: 0.5 }),
  // Not part of the full run: what is held out are requests of all needs, so only online success says anything.
  "one-need": {
    kind: "narrow",
    about: "all but a handful of requests are about one need",
    honest: true,
    settings: { zipf: 8, unseen: 0 },
  },
};

export const SCENARIO_NAMES: readonly ScenarioName[] = Object.keys(SCENARIOS) as ScenarioName[];
