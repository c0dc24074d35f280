import type { ComponentChildren, Context, JSX } from "preact";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { nameOf, time } from "../../terminal/text.js";
import type { Loaded } from "./client.js";
import { hrefOf, type Place } from "./location.js";

/** Where the page is, and how to go elsewhere. */
export interface Navigation {
  readonly place: Place;
  go(place: Place): void;
}

export const Navigating: Context<Navigation> = createContext<Navigation>({ place: { page: "overview" }, go: () => {} });

/** A link to a page of the same namespace. */
export function Link({
  to,
  children,
  current,
}: {
  readonly to: Place;
  readonly children: ComponentChildren;
  readonly current?: boolean;
}): JSX.Element {
  const { place, go } = useContext(Navigating);
  const target: Place = { ...to, ...(place.namespace === undefined ? {} : { namespace: place.namespace }) };
  const follow = (event: MouseEvent): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go(target);
  };
  return (
    <a href={hrefOf(target)} onClick={follow} {...(current ? { "aria-current": "page" as const } : {})}>
      {children}
    </a>
  );
}

export function MemoryLink({
  memory,
  collection,
}: {
  readonly memory: { readonly id: string; readonly label?: string };
  readonly collection: string;
}): JSX.Element {
  return (
    <span class="memory">
      <Link to={{ page: "memory", ref: memory.id, collection }}>{nameOf(memory, 90)}</Link>
    </span>
  );
}

/** A report, or the state that stands for it: loading or an error. */
export function Report<Data>({
  loaded,
  children,
}: {
  readonly loaded: Loaded<Data>;
  children(data: Data): JSX.Element;
}): JSX.Element {
  const { data, problem, slow } = loaded;
  if (data !== undefined) return children(data);
  if (problem) return <ProblemCard code={problem.code} message={problem.message} />;
  return slow ? (
    <div class="skeleton" role="status" aria-label="Loading">
      <div />
      <div />
      <div />
    </div>
  ) : (
    <div class="waiting" />
  );
}

const COMMANDS: Readonly<Record<string, string>> = {
  TOKEN: "npx qavr dashboard",
  OFFLINE: "npx qavr dashboard",
  NOT_FOUND: "npx qavr runs",
  STORE_CORRUPT: "npx qavr ledger verify",
};

function ProblemCard({ code, message }: { readonly code: string; readonly message: string }): JSX.Element {
  return (
    <section class="card problem" role="alert">
      <h2>This cannot be shown</h2>
      <p>{message}</p>
      <p class="dim">
        {code} · <code>{COMMANDS[code] ?? "npx qavr doctor"}</code>
      </p>
    </section>
  );
}

/** A page without data: it names the missing data, and a command that brings it. */
export function Empty({
  title,
  children,
  command,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly command: string;
}): JSX.Element {
  return (
    <section class="card empty">
      <h2>{title}</h2>
      <p>{children}</p>
      <pre>
        <code>{command}</code>
      </pre>
      <button type="button" onClick={() => void navigator.clipboard?.writeText(command)}>
        Copy
      </button>
    </section>
  );
}

/** A column of a table: the heading, the cell, and the text of the cell in a CSV file. */
export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly csv?: (row: Row) => string | number;
  readonly number?: boolean;
  /** Holds text of any length: it is broken into lines. */
  readonly wide?: boolean;
}

/** Columns that name a run. */
export const RUN_COLUMNS: readonly Column<{ readonly at: number; readonly episode: string }>[] = [
  { head: "time (UTC)", cell: ({ at }) => time(at) },
  {
    head: "run",
    cell: ({ episode }) => <Link to={{ page: "run", ref: episode }}>{episode.slice(0, 12)}</Link>,
    csv: ({ episode }) => episode,
  },
];

/** A table that can be saved as CSV. */
export function DataTable<Row>({
  name,
  columns,
  rows,
  saved = rows,
  keyOf,
}: {
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Tells rows apart whose places change while they are read. @default their place */
  readonly keyOf?: (row: Row) => string;
  /** Rows of the CSV file. */
  readonly saved?: readonly Row[];
}): JSX.Element {
  const save = (): void => {
    const lines = [
      columns.map(({ head }) => head),
      ...saved.map((row) => columns.map(({ csv, cell }) => csv?.(row) ?? String(cell(row)))),
    ];
    const file = new Blob([lines.map((line) => line.map(csvCell).join(",")).join("\r\n")], { type: "text/csv" });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = `${name}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <div class="table">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways is reached by keyboard */}
      <section class="scroll" tabIndex={0} aria-label={name}>
        <table>
          <thead>
            <tr>
              {columns.map(({ head, number }) => (
                <th key={head} scope="col" class={number ? "number" : ""}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, i) => (
              <tr key={keyOf?.(row) ?? i}>
                {columns.map(({ head, cell, number, wide }) => (
                  <td key={head} class={number ? "number" : wide ? "wide" : ""}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <button type="button" class="quiet" onClick={save}>
        Save as CSV
      </button>
    </div>
  );
}

/** A cell of a CSV file. Text that a spreadsheet would run as a formula is quoted. */
function csvCell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function Outcome({
  reward,
  state,
}: {
  readonly reward: number | null | undefined;
  readonly state: string;
}): JSX.Element {
  if (reward === null || reward === undefined) return <span class="dim">{state === "ended" ? "unknown" : state}</span>;
  const kind = reward >= 0.5 ? "good" : "bad";
  const word = reward === 1 ? "success" : reward === 0 ? "failure" : reward.toFixed(2);
  return (
    <span class={kind}>
      {kind === "good" ? "▲" : "▼"} {word}
    </span>
  );
}
