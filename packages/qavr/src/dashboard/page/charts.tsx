import type { JSX } from "preact";
import type { CurvePoint } from "../../reports/curve.js";
import type { MemoryRow } from "../../reports/memories.js";
import { percent, time } from "../../terminal/text.js";

const WIDTH = 720;
const HEIGHT = 240;
const LEFT = 60;
const BOTTOM = 26;
const TOP = 10;

/** Success over the runs, with its interval as a band, and the held-out runs as a dashed line. */
export function Curve({ points }: { readonly points: readonly CurvePoint[] }): JSX.Element {
  const x = (i: number): number => LEFT + (WIDTH - LEFT - 8) * (points.length === 1 ? 0.5 : i / (points.length - 1));
  const y = (share: number): number => TOP + (HEIGHT - TOP - BOTTOM) * (1 - share);
  const line = (values: readonly (number | undefined)[]): string =>
    values.flatMap((value, i) => (value === undefined ? [] : [`${x(i).toFixed(1)},${y(value).toFixed(1)}`])).join(" ");
  const band = points.flatMap(({ interval }, i) => (interval ? [{ i, ...interval }] : []));
  const area = [
    ...band.map(({ i, high }) => `${x(i).toFixed(1)},${y(high).toFixed(1)}`),
    ...band.toReversed().map(({ i, low }) => `${x(i).toFixed(1)},${y(low).toFixed(1)}`),
  ].join(" ");
  const held = points.map(({ heldOut }) => heldOut?.success);
  let runs = 0;
  const ends = points.map((point) => (runs += point.runs + (point.heldOut?.runs ?? 0)));
  const [first, last] = [points[0], points.at(-1)];
  return (
    <svg
      class="plot"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`Success from ${percent(first?.success ?? 0)} to ${percent(last?.success ?? 0)} over ${runs} judged runs`}
    >
      {[0, 0.25, 0.5, 0.75, 1].map((share) => (
        <g key={share}>
          <line class="grid" x1={LEFT} x2={WIDTH - 8} y1={y(share)} y2={y(share)} />
          <text x={LEFT - 6} y={y(share) + 4} text-anchor="end">
            {Math.round(share * 100)} %
          </text>
        </g>
      ))}
      {points.map((point, i) =>
        i === 0 || i === points.length - 1 || i === Math.floor(points.length / 2) ? (
          <text
            key={point.from}
            x={x(i)}
            y={HEIGHT - 6}
            text-anchor={i === 0 ? "start" : i === points.length - 1 ? "end" : "middle"}
          >
            {ends[i]} runs
          </text>
        ) : null,
      )}
      {band.length > 1 ? <polygon class="band" points={area} /> : null}
      <polyline class="line" points={line(points.map(({ success }) => success))} />
      {held.some((value) => value !== undefined) ? <polyline class="line held" points={line(held)} /> : null}
      {points.map((point, i) => (
        <circle key={point.from} class="dot" cx={x(i)} cy={y(point.success)} r={3}>
          <title>{`${time(point.from)} … ${time(point.to)}: ${percent(point.success)} of ${point.runs} runs`}</title>
        </circle>
      ))}
    </svg>
  );
}

/** A share with its 95 % interval on a line from 0 to 1. */
export function IntervalDot({ success }: { readonly success: MemoryRow["success"] }): JSX.Element | null {
  if (!success) return null;
  const { share, low, high } = success;
  const x = (value: number): number => 4 + value * 112;
  return (
    <svg
      class="interval"
      viewBox="0 0 120 16"
      role="img"
      aria-label={`${percent(share)}, between ${percent(low)} and ${percent(high)}`}
    >
      <line class="grid" x1={x(0)} x2={x(1)} y1={8} y2={8} />
      <line class="grid" x1={x(0.5)} x2={x(0.5)} y1={3} y2={13} />
      <line class={share >= 0.5 ? "whisker good" : "whisker bad"} x1={x(low)} x2={x(high)} y1={8} y2={8} />
      {share >= 0.5 ? (
        <circle class="mark good" cx={x(share)} cy={8} r={4} />
      ) : (
        <rect class="mark bad" x={x(share) - 3.5} y={4.5} width={7} height={7} />
      )}
    </svg>
  );
}

/** Exposures against utility: good memories that are shown often lie at the upper right. */
export function Exposures({ rows }: { readonly rows: readonly MemoryRow[] }): JSX.Element {
  const most = Math.max(1, ...rows.map(({ shown }) => shown));
  const far = Math.max(0.1, ...rows.map(({ utility }) => Math.abs(utility)));
  const x = (shown: number): number => LEFT + (WIDTH - LEFT - 16) * (Math.log1p(shown) / Math.log1p(most));
  const y = (utility: number): number => TOP + ((HEIGHT - TOP - BOTTOM) * (1 - utility / far)) / 2;
  return (
    <svg
      class="plot"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`Utility of ${rows.length} memories against how often they were shown`}
    >
      <line class="grid" x1={LEFT} x2={WIDTH - 8} y1={y(0)} y2={y(0)} />
      {[far, 0, -far].map((utility) => (
        <text key={utility} x={LEFT - 6} y={y(utility) + 4} text-anchor="end">
          {utility.toFixed(1)}
        </text>
      ))}
      <text x={LEFT} y={HEIGHT - 6}>
        shown seldom
      </text>
      <text x={WIDTH - 8} y={HEIGHT - 6} text-anchor="end">
        {`shown ${most} times`}
      </text>
      {rows.map((row) => {
        const title = (
          <title>{`${row.label ?? row.id}: utility ${row.utility.toFixed(2)}, shown ${row.shown} times`}</title>
        );
        return row.utility >= 0 ? (
          <circle key={row.id} class="mark good" cx={x(row.shown)} cy={y(row.utility)} r={4}>
            {title}
          </circle>
        ) : (
          <rect key={row.id} class="mark bad" x={x(row.shown) - 3.5} y={y(row.utility) - 3.5} width={7} height={7}>
            {title}
          </rect>
        );
      })}
    </svg>
  );
}

/** One term of a score. */
export interface Term {
  readonly name: string;
  readonly value: number;
}

/**
 * How the terms lead from 0 to the score. Similarity is grey; what raises it is blue, what lowers it orange and hatched at its end.
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
  const x = (value: number): number => 2 + (216 * (value - low)) / (high - low || 1);
  let at = 0;
  const bars = terms.map(({ name, value }) => {
    const from = at;
    at += value;
    return { name, value, from, to: at };
  });
  return (
    <svg
      class="waterfall"
      viewBox="0 0 220 16"
      role="img"
      aria-label={bars.map(({ name, value }) => `${name} ${value.toFixed(3)}`).join(", ")}
    >
      <line class="grid" x1={x(0)} x2={x(0)} y1={0} y2={16} />
      {bars
        .filter(({ value }) => value !== 0)
        .map(({ name, value, from, to }, i) => (
          <rect
            key={name}
            class={name === "similarity" ? "bar base" : value > 0 ? "bar good" : "bar bad"}
            x={Math.min(x(from), x(to))}
            y={i === 0 ? 3 : 5}
            width={Math.max(1, Math.abs(x(to) - x(from)))}
            height={i === 0 ? 10 : 6}
          >
            <title>{`${name} ${value.toFixed(3)}`}</title>
          </rect>
        ))}
      <line class="end" x1={x(at)} x2={x(at)} y1={1} y2={15} />
    </svg>
  );
}
