import { type Measurement, ratio } from "../speed/measure.js";
import type { SpeedResult } from "../speed/targets.js";
import { pairedInterval } from "../statistics/interval.js";
import { PARTS } from "./parts.js";

/** Targets of the measurements. */
export function adapterResults(measurements: readonly Measurement[]): readonly SpeedResult[] {
  const part = (name: string): Measurement => measurements.find((one) => one.name === name) as Measurement;
  const against = (what: string, name: string, base: string, target?: number): SpeedResult => ({
    what,
    unit: "ratio",
    value: ratio(part(name), part(base)),
    ...(target === undefined ? {} : { target }),
  });
  const beyond = (what: string, name: string, base: string, target: number): SpeedResult => ({
    what,
    unit: "µs",
    value: pairedInterval(part(name).rounds, part(base).rounds),
    target,
  });
  const { median, calls } = part(PARTS.ending);
  return [
    against("QavrRetriever in a tracked run ÷ plain retriever without callbacks", PARTS.tracked, PARTS.plain, 1.3),
    against(
      "QavrRetriever in a tracked run ÷ plain retriever in a run with a silent handler",
      PARTS.tracked,
      PARTS.heard,
      1.3,
    ),
    against("QavrRetriever outside any run, recorded at once ÷ plain retriever", PARTS.bare, PARTS.plain),
    beyond("outcome handler − silent handler, chain of three steps", PARTS.chainTracked, PARTS.chainHeard, 50),
    beyond(
      "outcome handler − silent handler, callbacks of an agent run with one tool call",
      PARTS.agentTracked,
      PARTS.agentHeard,
      50,
    ),
    {
      what: "end of a run that retrieved: record and learn, before the disk",
      unit: "µs",
      value: { mean: median, margin: 0, n: calls },
    },
  ];
}
