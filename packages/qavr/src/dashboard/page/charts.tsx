import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { CurvePoint } from "../../reports/curve.js";
import type { LedgerEvent } from "../../reports/judged-runs.js";
import type { MemoryRow } from "../../reports/memories.js";
import type { HistoryPoint } from "../../reports/why.js";
import { count, percent, plural, signed, time } from "../../terminal/text.js";

const HEIGHT = 260;
const LEFT = 46;
const RIGHT = 10;
const BOTTOM = 28;
const TOP = 18;
/** The curve's scale spans at least this share, so that noise does not look like a rise. */
const LEAST_SPAN = 0.4;
const STEP = 0.1;

/** A plot is drawn in the pixels that it has: its text is as large as the page's. */
function useWidth(): [{ current: HTMLDivElement | null }, number] {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(720);
  useLayoutEffect(() => {
    const element = place.current as HTMLDivElement;
    const observer = new ResizeObserver(() => setWidth(Math.max(200, element.clientWidth)));
    setWidth(Math.max(200, element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [place, width];
}

/** Success over the runs, with its interval as a band, the held-out runs as a dashed line, and events as vertical lines. */
export function Curve({
  points,
  judged,
  events,
}: {
  readonly points: readonly CurvePoint[];
  /** False where the runs merely ended, or threw. */
  readonly judged: boolean;
  readonly events: readonly LedgerEvent[];
}): JSX.Element {
  const [place, width] = useWidth();
  const [low, high] = rangeOf(points);
  const x = (i: number): number =>
    LEFT + (width - LEFT - RIGHT) * (points.length === 1 ? 0.5 : i / (points.length - 1));
  const y = (share: number): number => TOP + ((HEIGHT - TOP - BOTTOM) * (high - share)) / (high - low);
  const at = (i: number, value: number): string => `${x(i).toFixed(1)},${y(value).toFixed(1)}`;
  const line = (values: readonly (number | undefined)[]): string =>
    values.flatMap((value, i) => (value === undefined ? [] : [at(i, value)])).join(" ");
  const band = points.flatMap(({ interval }, i) => (interval ? [{ i, ...interval }] : []));
  const area = [
    ...band.map(({ i, high: top }) => at(i, top)),
    ...band.toReversed().map(({ i, low: end }) => at(i, end)),
  ];
  const held = meanSoFar(points);
  let runs = 0;
  const ends = points.map((point) => (runs += point.runs + (point.heldOut?.runs ?? 0)));
  const [first, last] = [points[0], points.at(-1)];
  const shares = Array.from({ length: Math.round((high - low) / STEP) + 1 }, (_, i) => low + i * STEP);
  const placeOf = (moment: number): number => {
    const next = points.findIndex(({ to }) => to >= moment);
    return next === -1 ? points.length - 1 : next;
  };
  return (
    <div ref={place}>
      <svg
        class="plot"
        height={HEIGHT}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        aria-label={`Success from ${percent(first?.success ?? 0)} to ${percent(last?.success ?? 0)} over ${judged ? plural(runs, "judged run") : plural(runs, "run that ended", "runs that ended")}`}
      >
        {shares.map((share) => (
          <g key={share}>
            <line class="grid" x1={LEFT} x2={width - RIGHT} y1={y(share)} y2={y(share)} />
            <text x={LEFT - 8} y={y(share) + 4} text-anchor="end">
              {percent(share)}
            </text>
          </g>
        ))}
        {points.map((point, i) =>
          i === 0 || i === points.length - 1 || (width > 460 && i === Math.floor(points.length / 2)) ? (
            <text
              key={point.from}
              x={x(i)}
              y={HEIGHT - 6}
              text-anchor={i === 0 ? "start" : i === points.length - 1 ? "end" : "middle"}
            >
              {plural(ends[i] as number, "run")}
            </text>
          ) : null,
        )}
        {events.map(({ at: moment, what }, i) => {
          const left = x(placeOf(moment));
          return (
            <g key={`${moment} ${i}`}>
              <line class="event" x1={left} x2={left} y1={TOP} y2={HEIGHT - BOTTOM} />
              <text
                x={left}
                y={TOP - 5}
                text-anchor={left > width * 0.8 ? "end" : left < width * 0.2 ? "start" : "middle"}
              >
                {what.slice(0, 30)}
              </text>
            </g>
          );
        })}
        {band.length > 1 ? <polygon class="band" points={area.join(" ")} /> : null}
        {held.some((value) => value !== undefined) ? <polyline class="line held" points={line(held)} /> : null}
        <polyline class="line" points={line(points.map(({ success }) => success))} />
        {points.map((point, i) => (
          <circle key={point.from} class="dot" cx={x(i)} cy={y(point.success)} r={3.5}>
            <title>{`${time(point.from)} … ${time(point.to)}: ${percent(point.success)} of ${plural(point.runs, "run")}`}</title>
          </circle>
        ))}
      </svg>
      <ul class="keys">
        <li>
          <Key class="line" />
          success{held.some((value) => value !== undefined) ? " in learned order" : ""}
        </li>
        {band.length > 1 ? (
          <li>
            <Key class="band" />
            95 % interval
          </li>
        ) : null}
        {held.some((value) => value !== undefined) ? (
          <li>
            <Key class="line held" />
            held out, in the host's order: mean so far
          </li>
        ) : null}
      </ul>
    </div>
  );
}

function Key({ class: name }: { readonly class: string }): JSX.Element {
  return (
    <svg viewBox="0 0 12 10" aria-hidden="true">
      {name.startsWith("line") ? (
        <line class={name} x1="0" x2="12" y1="5" y2="5" />
      ) : (
        <rect class={name} width="12" height="10" rx="2" />
      )}
    </svg>
  );
}

/** Mean of all held-out runs up to each point: they are too few for a mean of each. */
function meanSoFar(points: readonly CurvePoint[]): readonly (number | undefined)[] {
  let [runs, sum] = [0, 0];
  return points.map(({ heldOut }) => {
    runs += heldOut?.runs ?? 0;
    sum += (heldOut?.runs ?? 0) * (heldOut?.success ?? 0);
    return runs === 0 ? undefined : sum / runs;
  });
}

/** Whole steps around all values, at least {@link LEAST_SPAN} apart, inside [0, 1]. */
function rangeOf(points: readonly CurvePoint[]): [number, number] {
  const values = points.flatMap(({ success, interval }) => [
    success,
    ...(interval ? [interval.low, interval.high] : []),
  ]);
  values.push(...meanSoFar(points).flatMap((value) => value ?? []));
  let low = Math.floor(Math.min(...values) / STEP);
  let high = Math.ceil(Math.max(...values) / STEP);
  while (high - low < LEAST_SPAN / STEP) {
    if (low > 0) low--;
    if (high < 1 / STEP) high++;
  }
  return [low * STEP, high * STEP];
}

const HISTORY_HEIGHT = 180;

/** Success after each run as a line with its interval as a band, and each run as a mark above or below. */
export function History({ points }: { readonly points: readonly HistoryPoint[] }): JSX.Element {
  const [place, width] = useWidth();
  const x = (i: number): number =>
    LEFT + 6 + (width - LEFT - RIGHT - 12) * (points.length === 1 ? 0.5 : i / (points.length - 1));
  const y = (share: number): number => TOP + (HISTORY_HEIGHT - TOP - BOTTOM) * (1 - share);
  const line = (values: readonly number[], order: (i: number) => number = (i) => i): string =>
    values.map((value, i) => `${x(order(i)).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  const [first, last] = [points[0], points.at(-1)] as [HistoryPoint, HistoryPoint];
  const lows = points.map(({ success }) => success.low).reverse();
  const area = [line(points.map(({ success }) => success.high)), line(lows, (i) => points.length - 1 - i)];
  return (
    <div ref={place}>
      <svg
        class="plot"
        height={HISTORY_HEIGHT}
        viewBox={`0 0 ${width} ${HISTORY_HEIGHT}`}
        role="img"
        aria-label={`Success ${percent(last.success.share)} after ${plural(last.runs, "run")}, between ${percent(last.success.low)} and ${percent(last.success.high)}`}
      >
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <line class="grid" x1={LEFT} x2={width - RIGHT} y1={y(share)} y2={y(share)} />
            <text x={LEFT - 8} y={y(share) + 4} text-anchor="end">
              {percent(share)}
            </text>
          </g>
        ))}
        <polygon class="band" points={area.join(" ")} />
        <polyline class="line" points={line(points.map(({ success }) => success.share))} />
        {points.map(({ episode, at, reward }, i) => {
          const title = <title>{`${time(at)}: ${reward}`}</title>;
          return reward >= 0.5 ? (
            <circle key={episode} class="mark good" cx={x(i)} cy={y(reward)} r={3}>
              {title}
            </circle>
          ) : (
            <rect key={episode} class="mark bad" x={x(i) - 3} y={y(reward) - 3} width={6} height={6}>
              {title}
            </rect>
          );
        })}
        <text x={LEFT} y={HISTORY_HEIGHT - 6}>
          {`run ${count(first.runs)}`}
        </text>
        <text x={width - RIGHT} y={HISTORY_HEIGHT - 6} text-anchor="end">
          {`run ${count(last.runs)}`}
        </text>
      </svg>
      <ul class="keys">
        <li>
          <Key class="line" />
          success so far
        </li>
        <li>
          <Key class="band" />
          95 % interval
        </li>
        <li class="dim">● a success, ■ a failure</li>
      </ul>
    </div>
  );
}

/** A share with its 95 % interval on a line from 0 to 1. */
export function IntervalDot({ success }: { readonly success: MemoryRow["success"] }): JSX.Element | null {
  if (!success) return null;
  const { share, low, high } = success;
  const x = (value: number): number => 6 + value * 178;
  return (
    <svg
      class="interval"
      viewBox="0 0 190 18"
      role="img"
      aria-label={`${percent(share)}, between ${percent(low)} and ${percent(high)}`}
    >
      <title>{`${percent(share)}, between ${percent(low)} and ${percent(high)}`}</title>
      <line class="grid" x1={x(0)} x2={x(1)} y1={9} y2={9} />
      {[0, 0.5, 1].map((end) => (
        <line key={end} class="grid" x1={x(end)} x2={x(end)} y1={3} y2={15} />
      ))}
      <line class={share >= 0.5 ? "whisker good" : "whisker bad"} x1={x(low)} x2={x(high)} y1={9} y2={9} />
      {share >= 0.5 ? (
        <circle class="mark good" cx={x(share)} cy={9} r={4.5} />
      ) : (
        <rect class="mark bad" x={x(share) - 4} y={5} width={8} height={8} />
      )}
    </svg>
  );
}

/** A signed value as a bar from the middle. `far` is the length of half the scale. */
export function SignedBar({ value, far }: { readonly value: number; readonly far: number }): JSX.Element {
  const length = Math.min(1, Math.abs(value) / (far || 1)) * 36;
  return (
    <svg viewBox="0 0 72 10" aria-hidden="true">
      <line class="axis" x1={36} x2={36} y1={0} y2={10} />
      <rect
        class={value >= 0 ? "bar good" : "bar bad"}
        x={value >= 0 ? 36 : 36 - length}
        y={2}
        width={length}
        height={6}
        rx={2}
      />
    </svg>
  );
}

/** Exposures against utility: good memories that are shown often lie at the upper right. */
export function Exposures({ rows }: { readonly rows: readonly MemoryRow[] }): JSX.Element {
  const [place, width] = useWidth();
  const most = Math.max(1, ...rows.map(({ shown }) => shown));
  const far = Math.max(0.1, ...rows.map(({ utility }) => Math.abs(utility)));
  const x = (shown: number): number => LEFT + 6 + (width - LEFT - RIGHT - 12) * (Math.log1p(shown) / Math.log1p(most));
  const y = (utility: number): number => TOP + ((HEIGHT - TOP - BOTTOM) * (1 - utility / far)) / 2;
  const corner = (text: string, right: boolean, below: boolean): JSX.Element => (
    <text
      class="name"
      x={right ? width - RIGHT - 4 : LEFT + 6}
      y={below ? HEIGHT - BOTTOM - 6 : TOP + 4}
      text-anchor={right ? "end" : "start"}
    >
      {text}
    </text>
  );
  return (
    <div ref={place}>
      <svg
        class="plot"
        height={HEIGHT}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        aria-label={`Utility of ${plural(rows.length, "memory", "memories")} against the number of times shown`}
      >
        {[far, 0, -far].map((utility) => (
          <g key={utility}>
            <line
              class={utility === 0 ? "axis" : "grid"}
              x1={LEFT}
              x2={width - RIGHT}
              y1={y(utility)}
              y2={y(utility)}
            />
            <text x={LEFT - 8} y={y(utility) + 4} text-anchor="end">
              {utility === 0 ? "0" : signed(utility, 2)}
            </text>
          </g>
        ))}
        <text x={LEFT} y={HEIGHT - 6}>
          shown seldom
        </text>
        <text x={width - RIGHT} y={HEIGHT - 6} text-anchor="end">
          {`shown ${plural(most, "time")}`}
        </text>
        {rows.map((row) => {
          const title = (
            <title>{`${row.label ?? row.id}: utility ${row.utility.toFixed(2)}, shown ${plural(row.shown, "time")}`}</title>
          );
          return row.utility >= 0 ? (
            <circle key={row.id} class="mark good" cx={x(row.shown)} cy={y(row.utility)} r={4.5}>
              {title}
            </circle>
          ) : (
            <rect key={row.id} class="mark bad" x={x(row.shown) - 4} y={y(row.utility) - 4} width={8} height={8}>
              {title}
            </rect>
          );
        })}
        {corner("promising", false, false)}
        {corner("proven", true, false)}
        {corner("dead weight", false, true)}
        {corner("harmful, still shown", true, true)}
      </svg>
    </div>
  );
}

/** One term of a score. */
export interface Term {
  readonly name: string;
  readonly value: number;
}

/** Similarity is grey, exploration pale, other terms blue where they raise the score and orange where they lower it. */
function classOf({ name, value }: Term): string {
  if (name === "similarity") return "bar base";
  if (value < 0) return "bar bad";
  return name === "bonus" ? "bar more" : "bar good";
}

/**
 * How the terms lead from 0 to the score. Negative terms run back, on a lower lane.
 *
 * @param low @param high ends of the scale, which all rows of a list share
 */
export function Waterfall({
  terms,
  low,
  high,
}: {
  readonly terms: readonly Term[];
  readonly low: number;
  readonly high: number;
}): JSX.Element {
  const x = (value: number): number => 2 + (256 * (value - low)) / (high - low || 1);
  let at = 0;
  const bars = terms.map((term) => {
    const from = at;
    at += term.value;
    return { ...term, from, to: at };
  });
  return (
    <svg
      class="waterfall"
      viewBox="0 0 260 18"
      role="img"
      aria-label={bars.map(({ name, value }) => `${name} ${value.toFixed(3)}`).join(", ")}
    >
      <line class="axis" x1={x(0)} x2={x(0)} y1={0} y2={18} />
      {bars
        .filter(({ value }) => value !== 0)
        .map(({ name, value, from, to }) => (
          <rect
            key={name}
            class={classOf({ name, value })}
            x={Math.min(x(from), x(to))}
            y={value < 0 ? 10 : 4}
            width={Math.max(1, Math.abs(x(to) - x(from)))}
            height={value < 0 ? 5 : 10}
          >
            <title>{`${name} ${value.toFixed(3)}`}</title>
          </rect>
        ))}
      <line class="end" x1={x(at)} x2={x(at)} y1={1} y2={17} />
    </svg>
  );
}

/** The colours of a waterfall. */
export function WaterfallKey({ terms }: { readonly terms: readonly string[] }): JSX.Element {
  return (
    <ul class="keys">
      {terms.map((name) => (
        <li key={name}>
          <Key class={classOf({ name, value: name === "overlap" || name === "unverified" ? -1 : 1 })} />
          {name}
        </li>
      ))}
    </ul>
  );
}
