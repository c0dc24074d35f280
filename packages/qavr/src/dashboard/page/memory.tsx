import type { JSX } from "preact";
import type { Appearance, WhyReport } from "../../reports/why.js";
import { decimal, signed, time } from "../../terminal/text.js";
import type { Loaded } from "./client.js";
import { COLUMNS } from "./memories.js";
import { DataTable, Link, Report } from "./parts.js";

type MemoryReport = Extract<WhyReport, { readonly kind: "memory" }>;

export function Memory({ loaded }: { readonly loaded: Loaded<MemoryReport> }): JSX.Element {
  return (
    <Report loaded={loaded}>
      {({ memory, appearances }) => (
        <>
          <section class="card">
            <h2>{memory.label ?? memory.id}</h2>
            <p class="dim">
              id <code>{memory.id}</code>, collection {memory.collection}
            </p>
            <DataTable name="memory" columns={COLUMNS.slice(1)} rows={[memory]} />
          </section>
          <section class="card">
            <h2>Latest retrievals that found it</h2>
            {appearances.length === 0 ? (
              <p class="dim">None among the latest 1,000 entries.</p>
            ) : (
              <Appearances rows={appearances} />
            )}
          </section>
        </>
      )}
    </Report>
  );
}

function Appearances({ rows }: { readonly rows: readonly Appearance[] }): JSX.Element {
  return (
    <DataTable
      name="retrievals"
      rows={rows}
      columns={[
        { head: "time (UTC)", cell: ({ at }) => time(at) },
        {
          head: "run",
          cell: ({ episode }) => <Link to={{ page: "run", ref: episode }}>{episode.slice(0, 12)}</Link>,
          csv: ({ episode }) => episode,
        },
        { head: "place", number: true, cell: ({ shown, notShown }) => (shown ?? notShown)?.rank },
        { head: "without learning", number: true, cell: ({ shown, notShown }) => (shown ?? notShown)?.hostRank },
        {
          head: "similarity",
          number: true,
          cell: ({ shown, notShown }) => decimal((shown ?? notShown)?.similarity ?? 0),
        },
        {
          head: "added",
          number: true,
          cell: ({ shown, notShown }) => signed(shown ? shown.score - shown.similarity : (notShown?.shift ?? 0)),
        },
        { head: "score", number: true, cell: ({ shown, notShown }) => decimal((shown ?? notShown)?.score ?? 0) },
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
