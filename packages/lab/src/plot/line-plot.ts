import { escapeXml } from "./svg-text.js";

/** A point of a line; `low` and `high` bound its band, when there is one. */
export interface PlotPoint {
  readonly x: number;
  readonly y: number;
  readonly low?: number;
  readonly high?: number;
}

export interface PlotSeries {
  readonly name: string;
  /** Ascending in x, at least one. */
  readonly points: readonly PlotPoint[];
}

export interface LinePlot {
  readonly title: string;
  /** One line below the title: what the numbers are and how they were made. */
  readonly subtitle?: string;
  readonly xLabel: string;
  readonly yLabel: string;
  /** At most {@link PLOT_STYLES}.length. Drawn in order, so the last one lies on top. */
  readonly series: readonly PlotSeries[];
}

/** Told apart by colour (Okabe & Ito's colour-blind-safe set, both lighter and darker than usual pages) and by dash. */
const PLOT_STYLES: readonly { readonly colour: string; readonly dash: string }[] = [
  { colour: "#8b949e", dash: "7 4" },
  { colour: "#d55e00", dash: "2 4" },
  { colour: "#0f8ccf", dash: "" },
  { colour: "#009e73", dash: "9 3 2 3" },
];

const WIDTH = 760;
const HEIGHT = 420;
const FRAME = { left: 64, right: 150, top: 62, bottom: 50 } as const;
/** A grey of equal contrast (about 4.6 : 1) on white and on GitHub's dark page, so that one file serves both. */
const INK = "#7a828b";

/** A line plot with bands as a complete SVG document: no background, no script, no font to load; a title and description for screen readers. */
export function linePlot({ title, subtitle = "", xLabel, yLabel, series }: LinePlot): string {
  const points = series.flatMap((one) => one.points);
  const xTicks = niceTicks(Math.min(...points.map((p) => p.x)), Math.max(...points.map((p) => p.x)), 6);
  const yTicks = niceTicks(
    Math.min(...points.map((p) => p.low ?? p.y)),
    Math.max(...points.map((p) => p.high ?? p.y)),
    6,
  );
  const x = scale(xTicks, FRAME.left, WIDTH - FRAME.right);
  const y = scale(yTicks, HEIGHT - FRAME.bottom, FRAME.top);
  const ends = labelPlaces(series.map((one) => y((one.points.at(-1) as PlotPoint).y)));
  const description = series
    .map((one) => `${one.name} ends at ${round((one.points.at(-1) as PlotPoint).y)}`)
    .join("; ");
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="title description" font-family="system-ui, sans-serif" font-size="13" fill="${INK}">`,
    `<title id="title">${escapeXml(title)}</title>`,
    `<desc id="description">${escapeXml(description)}</desc>`,
    `<text x="${FRAME.left}" y="24" font-size="17" font-weight="600">${escapeXml(title)}</text>`,
    `<text x="${FRAME.left}" y="44">${escapeXml(subtitle)}</text>`,
    ...yTicks.map((tick) => gridLine(tick, y(tick))),
    ...xTicks.map(
      (tick) =>
        `<text x="${x(tick)}" y="${HEIGHT - FRAME.bottom + 20}" text-anchor="middle">${tick.toLocaleString("en")}</text>`,
    ),
    `<text x="${(FRAME.left + WIDTH - FRAME.right) / 2}" y="${HEIGHT - 10}" text-anchor="middle">${escapeXml(xLabel)}</text>`,
    `<text transform="translate(16 ${(FRAME.top + HEIGHT - FRAME.bottom) / 2}) rotate(-90)" text-anchor="middle">${escapeXml(yLabel)}</text>`,
    ...series.map((one, place) => band(one, style(place).colour, x, y)),
    ...series.map((one, place) => line(one, place, x, y)),
    ...series.map((one, place) => endLabel(one.name, place, ends[place] as number)),
    "</svg>",
  ]
    .filter((part) => part !== "")
    .join("\n")}\n`;
}

type Scale = (value: number) => number;

function scale(ticks: readonly number[], from: number, to: number): Scale {
  const low = ticks[0] as number;
  const high = ticks.at(-1) as number;
  return (value) => round(from + ((value - low) / (high - low)) * (to - from), 1);
}

function gridLine(tick: number, height: number): string {
  const right = WIDTH - FRAME.right;
  return `<line x1="${FRAME.left}" x2="${right}" y1="${height}" y2="${height}" stroke="${INK}" stroke-opacity="0.25"/><text x="${FRAME.left - 8}" y="${height + 4}" text-anchor="end">${tick}</text>`;
}

function band({ points }: PlotSeries, colour: string, x: Scale, y: Scale): string {
  if (points.every((p) => p.low === undefined || p.high === undefined)) return "";
  const upper = points.map((p) => `${x(p.x)},${y(p.high ?? p.y)}`);
  const lower = points.map((p) => `${x(p.x)},${y(p.low ?? p.y)}`).reverse();
  return `<polygon points="${[...upper, ...lower].join(" ")}" fill="${colour}" fill-opacity="0.18"/>`;
}

function line({ points }: PlotSeries, place: number, x: Scale, y: Scale): string {
  const { colour, dash } = style(place);
  const path = points.map((p) => `${x(p.x)},${y(p.y)}`).join(" ");
  const dashes = dash === "" ? "" : ` stroke-dasharray="${dash}"`;
  return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2.5" stroke-linejoin="round"${dashes}/>`;
}

function endLabel(name: string, place: number, height: number): string {
  return `<text x="${WIDTH - FRAME.right + 8}" y="${height + 4}" fill="${style(place).colour}" font-weight="600">${escapeXml(name)}</text>`;
}

/** Heights of the labels at the lines' ends, pushed apart to at least a line of text. */
function labelPlaces(heights: readonly number[]): readonly number[] {
  const places = [...heights];
  const order = places.map((_, place) => place).sort((a, b) => (heights[a] as number) - (heights[b] as number));
  for (let i = 1; i < order.length; i++) {
    const above = places[order[i - 1] as number] as number;
    const here = order[i] as number;
    places[here] = Math.max(places[here] as number, above + 17);
  }
  return places;
}

function style(place: number): (typeof PLOT_STYLES)[number] {
  return PLOT_STYLES[place % PLOT_STYLES.length] as (typeof PLOT_STYLES)[number];
}

function round(value: number, digits = 3): number {
  return Number(value.toFixed(digits));
}

/**
 * Round tick values that cover [low, high], both finite: steps of 1, 2 or 5 times a power of ten, about `wanted` of them. A range
 * without extent is widened, since a flat line needs an axis too.
 */
export function niceTicks(low: number, high: number, wanted: number): readonly number[] {
  if (low === high) return niceTicks(low - 0.5, high + 0.5, wanted);
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const ticks: number[] = [];
  const last = Math.ceil(high / step - 1e-9);
  for (let multiple = Math.floor(low / step + 1e-9); multiple <= last; multiple++) {
    // Through a decimal string, so that 3 · 0.1 prints as 0.3.
    ticks.push(Number((multiple * step).toPrecision(12)));
  }
  return ticks;
}
