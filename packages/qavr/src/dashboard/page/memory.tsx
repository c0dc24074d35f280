import type { JSX } from "preact";
import type { Appearance, HistoryPoint, WhyReport } from "../../reports/why.js";
import { count, decimal, percent, shownLines, signed } from "../../terminal/text.js";
import { History } from "./charts.js";
import type { Loaded } from "./client.js";
import { COLUMNS } from "./memories.js";
import { DataTable, Outcome, Report, RUN_COLUMNS } from "./parts.js";

type MemoryReport = Extract<WhyReport, { readonly kind: "memory" }>;

export function Memory({ loaded }: { readonly loaded: Loaded<MemoryReport> }): JSX.Element {
  return (
    <Report loaded={loaded}>
      {({ memory, appearances, history }) => (
        <>
          <section class="card">
            <h2>{shownLines(memory.label ?? memory.id)}</h2>
            <p class="dim">
              id <code>{shownLines(memory.id)}</code>, collection {memory.collection}
            </p>
            <DataTable name="memory" columns={COLUMNS.slice(1)} rows={[memory]} />
          </section>
          <section class="card">
            <h2>What was learned about it</h2>
            {history.length === 0 ? (
              <p class="dim">No judged run showed it, among the 1,000 entries that were looked at.</p>
            ) : (
              <Known points={history} runs={memory.successes + memory.failures} />
            )}
          </section>
          <section class="card">
            <h2>Latest retrievals that found it</h2>
            {appearances.length === 0 ? (
              <p class="dim">None among the 1,000 entries that were looked at.</p>
            ) : (
              <Appearances rows={appearances} />
            )}
          </section>
        </>
      )}
    </Report>
  );
}

function Known({ points, runs }: { readonly points: readonly HistoryPoint[]; readonly runs: number }): JSX.Element {
  const latest = points.length < runs ? ` The latest ${count(points.length)} of ${count(runs)} are shown.` : "";
  return (
    <>
      <History points={points} />
      <p class="dim">
        Success of the runs that showed it, after each run.{latest} The interval narrows as runs come in; requests
        differ, so it is no proof of a cause.
      </p>
      <details>
        <summary>As a table</summary>
        <DataTable
          name="history"
          rows={points}
          columns={[
            ...RUN_COLUMNS,
            {
              head: "outcome",
              cell: ({ reward }) => <Outcome reward={reward} state="ended" />,
              csv: ({ reward }) => reward,
            },
            { head: "runs so far", number: true, cell: ({ runs }) => runs },
            {
              head: "success",
              number: true,
              cell: ({ success }) => percent(success.share),
              csv: ({ success }) => success.share,
            },
            {
              head: "95 % interval",
              number: true,
              cell: ({ success }) => `${percent(success.low)} … ${percent(success.high)}`,
            },
          ]}
        />
      </details>
    </>
  );
}

/** The score of a memory that was found, shown or not: its similarity, and what was added. */
function termsOf({ shown, notShown }: Appearance): { similarity: number; added: number; score: number } {
  const { similarity = 0, score = 0 } = shown ?? notShown ?? {};
  return { similarity, added: notShown?.shift ?? score - similarity, score };
}

function Appearances({ rows }: { readonly rows: readonly Appearance[] }): JSX.Element {
  return (
    <DataTable
      name="retrievals"
      rows={rows}
      columns={[
        ...RUN_COLUMNS,
        { head: "place", number: true, cell: ({ shown, notShown }) => (shown ?? notShown)?.rank },
        { head: "without learning", number: true, cell: ({ shown, notShown }) => (shown ?? notShown)?.hostRank },
        {
          head: "similarity",
          number: true,
          cell: (row) => decimal(termsOf(row).similarity),
          csv: (row) => termsOf(row).similarity,
        },
        { head: "added", number: true, cell: (row) => signed(termsOf(row).added), csv: (row) => termsOf(row).added },
        { head: "score", number: true, cell: (row) => decimal(termsOf(row).score), csv: (row) => termsOf(row).score },
        {
          head: "shown",
          wide: true,
          cell: ({ notShown, places, lastScore }) =>
            notShown
              ? `no, ${notShown.reason}${lastScore === undefined ? "" : `: the last of ${places} had ${decimal(lastScore)}`}`
              : "yes",
        },
      ]}
    />
  );
}
