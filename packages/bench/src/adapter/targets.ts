import { pairedInterval } from "@qavr/lab";
import { type Measurement, ratio } from "../speed/measure.js";
import type { SpeedResult } from "../speed/targets.js";
import { CONTENDERS, MARKS } from "./contenders.js";
import { HANDLER_PARTS } from "./handler-parts.js";

/** ms that a model's call takes in each setting. */
export const DELAYS = [0, 20] as const;

/** Measurements of one setting. */
export interface Setting {
  readonly delay: (typeof DELAYS)[number];
  readonly measurements: readonly Measurement[];
}

export interface AdapterResults {
  /** One per delay, in the order of {@link DELAYS}. */
  readonly settings: readonly Setting[];
  /** Runs that retrieve nothing. */
  readonly handler: readonly Measurement[];
}

type Stretch = keyof typeof MARKS;

/** Most that a retriever may cost, as a multiple of the plain one. */
const AIMS: Readonly<
  Record<"cold" | "learned", Readonly<Record<Stretch, Readonly<Record<Setting["delay"], number>>>>>
> = {
  cold: { documents: { 0: 1.15, 20: 1.15 }, run: { 0: 1.15, 20: 1.15 } },
  learned: { documents: { 0: 1.5, 20: 1.03 }, run: { 0: 2, 20: 1.05 } },
};

/** Aims of the retrievers that have one. */
const JUDGED: Readonly<Record<string, keyof typeof AIMS>> = {
  [CONTENDERS.coldMemory]: "cold",
  [CONTENDERS.learnedMemory]: "learned",
  [CONTENDERS.coldSqlite]: "cold",
  [CONTENDERS.learnedSqlite]: "learned",
};

/** Retrievers that ask models or read all documents to choose better: learned ranking must cost less than each. */
export const DEARER: readonly string[] = [CONTENDERS.filter, CONTENDERS.multiQuery, CONTENDERS.ensemble];

/** µs of a stretch of a contender's run. */
export function stretchOf({ measurements }: Setting, name: string, stretch: Stretch): Measurement {
  return find(measurements, `${name}: ${MARKS[stretch]}`);
}

/** A contender's cost as a multiple of the plain retriever's. */
export function costOf(setting: Setting, name: string, stretch: Stretch): SpeedResult {
  const judged = JUDGED[name];
  return {
    what: `${name} ÷ plain, ${STRETCHES[stretch]}, ${settingText(setting)}`,
    unit: "ratio",
    value: ratio(stretchOf(setting, name, stretch), stretchOf(setting, CONTENDERS.plain, stretch)),
    ...(judged ? { target: AIMS[judged][stretch][setting.delay] } : {}),
  };
}

/** Everything with an aim. */
export function adapterTargets({ settings, handler }: AdapterResults): readonly SpeedResult[] {
  return [
    ...settings.flatMap((setting) =>
      Object.keys(JUDGED).flatMap((name) => [costOf(setting, name, "documents"), costOf(setting, name, "run")]),
    ),
    ...settings.flatMap((setting) => DEARER.flatMap((name) => dearer(setting, name))),
    ...handlerCosts(handler),
  ];
}

/** Of runs that retrieve nothing: µs that the outcome handler takes beyond a handler that does nothing. */
export function handlerCosts(handler: AdapterResults["handler"]): readonly SpeedResult[] {
  const { chainSilent, chainTracked, agentSilent, agentTracked } = HANDLER_PARTS;
  return [
    { run: "a chain of three steps", base: chainSilent, name: chainTracked },
    { run: "an agent run with one tool call", base: agentSilent, name: agentTracked },
  ].map(({ run, base, name }) => ({
    what: `outcome handler − silent handler, ${run}`,
    unit: "µs",
    value: pairedInterval(find(handler, name).rounds, find(handler, base).rounds),
    target: 50,
  }));
}

/** Learned ranking as a share of another retriever's run. Without delay the filter's embeddings are a look-up, which is not its work. */
export function dearer(setting: Setting, name: string): SpeedResult[] {
  if (setting.delay === 0 && name === CONTENDERS.filter) return [];
  const { learnedSqlite } = CONTENDERS;
  return [
    {
      what: `${learnedSqlite} ÷ ${name}, ${STRETCHES.run}, ${settingText(setting)}`,
      unit: "ratio",
      value: ratio(stretchOf(setting, learnedSqlite, "run"), stretchOf(setting, name, "run")),
      target: 1,
    },
  ];
}

const STRETCHES: Readonly<Record<Stretch, string>> = { documents: "to the documents", run: "whole run" };

function settingText({ delay }: Setting): string {
  return delay === 0 ? "no delay" : `${delay} ms per model call`;
}

function find(measurements: readonly Measurement[], name: string): Measurement {
  return measurements.find((one) => one.name === name) as Measurement;
}
