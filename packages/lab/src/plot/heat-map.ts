import { escapeXml } from "./svg-text.js";

/** Numbers by row and column as coloured cells. */
export interface HeatMap {
  readonly title: string;
  readonly subtitle?: string;
  /** Top to bottom. */
  readonly rows: readonly string[];
  /** Left to right; gaps part groups. */
  readonly groups: readonly { readonly name: string; readonly columns: readonly string[] }[];
  /** Undefined for a cell that was not measured. */
  value(row: string, column: string): number | undefined;
  /** Text of a cell. */
  format(value: number): string;
  /** Values of at least this size have the full colour. > 0 */
  readonly full: number;
}

const CELL = { width: 62, height: 24, gap: 2 } as const;
const GROUP_GAP = 18;
const LEFT = 192;
const TOP = 158;
const LABEL_ANGLE = -45;
/** As in the line plots: readable on white and on dark pages. */
const INK = "#7a828b";
/** Blue is gain, orange is loss (Okabe & Ito's set, told apart by colour-blind readers too); in between lies a light grey. */
const COLOURS = { gain: [15, 110, 180], loss: [213, 94, 0], none: [240, 242, 244] } as const;

/** A heat map as a complete SVG document: no background, no script, no font to load; a title and description for screen readers. */
export function heatMap({ title, subtitle = "", rows, groups, value, format, full }: HeatMap): string {
  const starts: number[] = [];
  let next = LEFT;
  for (const group of groups) {
    starts.push(next);
    next += group.columns.length * (CELL.width + CELL.gap) + GROUP_GAP;
  }
  const width = next - GROUP_GAP + 24;
  const height = TOP + rows.length * (CELL.height + CELL.gap) + 12;
  const cells = groups.flatMap(({ columns }, group) =>
    columns.flatMap((column, place) => {
      const x = (starts[group] as number) + place * (CELL.width + CELL.gap);
      return rows.map((row, line) => cell(value(row, column), x, TOP + line * (CELL.height + CELL.gap)));
    }),
  );
  const known = rows.length * groups.reduce((sum, group) => sum + group.columns.length, 0);
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title description" font-family="system-ui, sans-serif" font-size="13" fill="${INK}">`,
    `<title id="title">${escapeXml(title)}</title>`,
    `<desc id="description">${known} cells: ${escapeXml(rows.join(", "))} by ${escapeXml(groups.flatMap((group) => group.columns).join(", "))}</desc>`,
    `<text x="24" y="26" font-size="17" font-weight="600">${escapeXml(title)}</text>`,
    `<text x="24" y="46">${escapeXml(subtitle)}</text>`,
    ...groups.flatMap((group, place) => heads(group, starts[place] as number)),
    ...rows.map(
      (row, line) =>
        `<text x="${LEFT - 10}" y="${TOP + line * (CELL.height + CELL.gap) + 17}" text-anchor="end">${escapeXml(row)}</text>`,
    ),
    ...cells,
    "</svg>",
  ].join("\n")}\n`;

  function cell(number: number | undefined, x: number, y: number): string {
    if (number === undefined) return `<text x="${x + CELL.width / 2}" y="${y + 17}" text-anchor="middle">–</text>`;
    const strength = Math.min(1, Math.abs(number) / full);
    const text = strength > 0.75 ? "#ffffff" : "#24292f";
    return `<rect x="${x}" y="${y}" width="${CELL.width}" height="${CELL.height}" rx="3" fill="${colour(number, strength)}"/><text x="${x + CELL.width / 2}" y="${y + 16.5}" text-anchor="middle" font-size="12" fill="${text}">${escapeXml(format(number))}</text>`;
  }
}

function heads({ name, columns }: HeatMap["groups"][number], start: number): string[] {
  const labels = columns.map((column, place) => {
    const x = start + place * (CELL.width + CELL.gap) + CELL.width / 2;
    return `<text transform="translate(${x} ${TOP - 10}) rotate(${LABEL_ANGLE})">${escapeXml(column)}</text>`;
  });
  return [`<text x="${start}" y="74" font-weight="600">${escapeXml(name)}</text>`, ...labels];
}

function colour(value: number, strength: number): string {
  const end = value < 0 ? COLOURS.loss : COLOURS.gain;
  const mixed = COLOURS.none.map((from, channel) => Math.round(from + strength * ((end[channel] as number) - from)));
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}
