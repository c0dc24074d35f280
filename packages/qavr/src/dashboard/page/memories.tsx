import type { JSX } from "preact";
import { useContext } from "preact/hooks";
import { areSeveral } from "../../reports/collections.js";
import type { MemoriesReport, MemoryRow } from "../../reports/memories.js";
import { count, percent, plural, signed } from "../../terminal/text.js";
import { Exposures, IntervalDot } from "./charts.js";
import type { Loaded } from "./client.js";
import { type Column, DataTable, Empty, Link, MemoryLink, Navigating, Report } from "./parts.js";

const FIRST_ROWS = 25;
const ORDERS = { worst: "Worst first", best: "Best first", shown: "Most shown", unsure: "Least sure" } as const;

export const COLUMNS: readonly Column<MemoryRow>[] = [
  {
    head: "memory",
    wide: true,
    cell: (row) => <MemoryLink memory={row} collection={row.collection} />,
    csv: ({ id, label }) => label ?? id,
  },
  { head: "utility", number: true, cell: ({ utility }) => signed(utility, 2), csv: ({ utility }) => utility },
  { head: "evidence", number: true, cell: ({ evidence }) => evidence.toFixed(1), csv: ({ evidence }) => evidence },
  { head: "shown", number: true, cell: ({ shown }) => count(shown), csv: ({ shown }) => shown },
  {
    head: "success of its runs",
    cell: ({ success }) => <IntervalDot success={success} />,
    csv: ({ success }) =>
      success ? `${percent(success.share)} (${percent(success.low)} … ${percent(success.high)})` : "",
  },
  {
    head: "runs",
    number: true,
    cell: ({ successes, failures }) => successes + failures,
    csv: ({ successes, failures }) => successes + failures,
  },
  {
    head: "votes",
    number: true,
    cell: ({ helpful, harmful }) => (helpful + harmful > 0 ? `▲${helpful} ▼${harmful}` : ""),
    csv: ({ helpful, harmful }) => `${helpful}/${harmful}`,
  },
];

const COLLECTION: Column<MemoryRow> = { head: "collection", cell: ({ collection }) => collection };

export function Memories({ loaded }: { readonly loaded: Loaded<MemoriesReport> }): JSX.Element {
  const { place, go } = useContext(Navigating);
  const { order = "worst", words = "" } = place;
  return (
    <>
      <nav class="tabs" aria-label="Order">
        {Object.entries(ORDERS).map(([name, title]) => (
          <Link key={name} to={{ page: "memories", order: name, words }} current={name === order}>
            {title}
          </Link>
        ))}
        <label>
          <span class="dim">containing</span>
          <input
            type="search"
            value={words}
            onInput={({ currentTarget }) => go({ ...place, words: currentTarget.value })}
          />
        </label>
      </nav>
      <Report loaded={loaded}>{(report) => <Screen report={report} words={words} />}</Report>
    </>
  );
}

function Screen({ report, words }: { readonly report: MemoriesReport; readonly words: string }): JSX.Element {
  const { rows, of, sample, unread, next } = report;
  const { place } = useContext(Navigating);
  if (of === 0) {
    return (
      <Empty title="No memory has evidence yet" command="npx qavr doctor">
        A memory appears here when a run that was shown it has been judged.
      </Empty>
    );
  }
  const wanted = words.toLowerCase();
  const listed = rows.filter(({ id, label }) => `${label ?? ""} ${id}`.toLowerCase().includes(wanted));
  const first = place.rows === undefined ? listed.slice(0, FIRST_ROWS) : listed;
  const part = rows.length < of;
  const columns = areSeveral(rows) ? COLUMNS.toSpliced(1, 0, COLLECTION) : COLUMNS;
  return (
    <>
      {sample === undefined ? null : (
        <p class="note">
          A sample: the first {count(sample)} of {count(of)} memories, by id. Worst first and best first look at all.
        </p>
      )}
      {unread === undefined ? null : (
        <p class="note">
          {count(unread)} further memories have nearly the same utility as some of these and are left out.
        </p>
      )}
      {listed.length > 0 ? (
        <section class="card">
          <h2>Utility and exposure</h2>
          <Exposures rows={listed} />
        </section>
      ) : null}
      <section class="card">
        <h2>
          {count(listed.length)} of{" "}
          {part && words !== ""
            ? `${plural(rows.length, "memory", "memories")} on this page`
            : plural(of, "memory", "memories")}
        </h2>
        {listed.length === 0 ? (
          <p class="dim">
            {part ? "None of this page contains these words. Look for one with " : "None contains these words."}
            {part ? <code>npx qavr why</code> : null}
          </p>
        ) : (
          <DataTable
            name="memories"
            columns={columns}
            rows={first}
            saved={listed}
            keyOf={({ collection, id }) => `${collection} ${id}`}
          />
        )}
        {first.length < listed.length ? (
          <p>
            <Link to={{ ...place, rows: "all" }}>All {listed.length} rows</Link>
          </p>
        ) : null}
        {next === undefined ? null : (
          <p>
            <Link to={{ page: "memories", ...(place.order ? { order: place.order } : {}), words, after: next }}>
              Next page
            </Link>
          </p>
        )}
        <p class="dim">
          Success is that of the runs that showed a memory, with its 95 % interval: no proof of a cause. Utility is the
          learner's own estimate.
        </p>
      </section>
    </>
  );
}
