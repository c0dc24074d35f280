import type { EpisodeView, ExplainedItem, ExposureView } from "@qavr/core";
import type { JSX } from "preact";
import { areSeveral } from "../../reports/collections.js";
import { orderOfRun, type RunsReport, shownOf } from "../../reports/runs.js";
import type { WhyReport } from "../../reports/why.js";
import { decimal, orderOf, plural, shownLines, signed, time } from "../../terminal/text.js";
import { Waterfall, WaterfallKey } from "./charts.js";
import type { Loaded } from "./client.js";
import { type Column, DataTable, Empty, Link, MemoryLink, Outcome, Report, RUN_COLUMNS } from "./parts.js";

export function Runs({ loaded }: { readonly loaded: Loaded<RunsReport> }): JSX.Element {
  return (
    <Report loaded={loaded}>
      {({ runs, next }) =>
        runs.length === 0 ? (
          <Empty title="The ledger has no run" command="npx qavr doctor">
            A run appears when it has ended and was shown a memory, and stays until it is compacted away.
          </Empty>
        ) : (
          <section class="card">
            <h2>Latest runs</h2>
            <DataTable
              name="runs"
              rows={runs}
              keyOf={({ episode }) => episode}
              columns={[
                ...RUN_COLUMNS,
                {
                  head: "outcome",
                  cell: ({ outcome, state }) => <Outcome reward={outcome?.reward} state={state} />,
                  csv: ({ outcome, state }) => outcome?.reward ?? state,
                },
                { head: "by", cell: ({ outcome }) => outcome?.source ?? "" },
                { head: "order", cell: orderOfRun },
                { head: "shown", number: true, cell: shownOf },
                {
                  head: "first memory",
                  wide: true,
                  cell: ({ first }) => (first ? <MemoryLink memory={first} collection={first.collection} /> : ""),
                  csv: ({ first }) => first?.label ?? first?.id ?? "",
                },
              ]}
            />
            {next === undefined ? null : <Link to={{ page: "runs", before: String(next) }}>Older runs</Link>}
          </section>
        )
      }
    </Report>
  );
}

export function Run({ loaded }: { readonly loaded: Loaded<WhyReport> }): JSX.Element {
  return (
    <Report loaded={loaded}>
      {(report) =>
        report.kind === "run" ? <Screen run={report.run} /> : <p class="card">{report.memory.id} is a memory.</p>
      }
    </Report>
  );
}

function Screen({ run }: { readonly run: EpisodeView }): JSX.Element {
  const { episode, state, outcome, votes = [], used, exposures, compacted } = run;
  const several = areSeveral(exposures);
  return (
    <>
      <section class="card">
        <h2>
          Run <code>{episode}</code>
        </h2>
        <p>
          <Outcome reward={outcome?.reward} state={state} />
          {outcome ? (
            <span class="dim">
              {" "}
              {outcome.tier}, by {shownLines(outcome.source)}
            </span>
          ) : null}
        </p>
        {outcome?.note ? <p>{shownLines(outcome.note)}</p> : null}
        {used ? (
          <p>
            Used: {used.length === 0 ? "none of the memories shown" : shownLines(used.map(({ id }) => id).join(", "))}
          </p>
        ) : null}
        {votes.length > 0 ? (
          <ul>
            {votes.map(({ id, vote, source }) => (
              <li key={id}>
                {vote === "helpful" ? "▲" : "▼"} {vote}: {shownLines(id)}, by {shownLines(source)}
              </li>
            ))}
          </ul>
        ) : null}
        {compacted ? <p class="note">Earlier retrievals were compacted away.</p> : null}
      </section>
      {exposures.map((exposure) => (
        <Exposure key={exposure.at} exposure={exposure} several={several} />
      ))}
    </>
  );
}

/** A memory's place without learning, and whether it rose. */
function Moved({ rank, hostRank }: ExplainedItem): JSX.Element {
  const arrow = rank < hostRank ? "▲" : rank > hostRank ? "▼" : "=";
  return (
    <span class="moved">
      <span class={rank < hostRank ? "good" : rank > hostRank ? "bad" : "dim"}>{arrow}</span> {hostRank}
    </span>
  );
}

const TERMS = ["similarity", "learned", "bonus", "overlap", "unverified"] as const;

function Exposure({ exposure, several }: { readonly exposure: ExposureView; readonly several: boolean }): JSX.Element {
  const { items, notShown, at, learner, gate, collection } = exposure;
  const order = orderOf(exposure);
  const scores = [...items, ...notShown].flatMap(({ similarity, score }) => [similarity, score]);
  const [low, high] = [Math.min(0, ...scores), Math.max(0, ...scores)];
  const terms = TERMS.filter((term) => items.some((item) => item[term] !== 0));
  const columns: Column<ExplainedItem>[] = [
    { head: "place", number: true, cell: ({ rank }) => rank },
    { head: "without learning", number: true, cell: Moved, csv: ({ hostRank }) => hostRank },
    {
      head: "memory",
      wide: true,
      cell: (item) => <MemoryLink memory={item} collection={collection} />,
      csv: ({ id, label }) => label ?? id,
    },
    ...terms.map(
      (term): Column<ExplainedItem> => ({
        head: term,
        number: true,
        cell: (item) => (term === "similarity" ? decimal(item[term]) : signed(item[term])),
        csv: (item) => item[term],
      }),
    ),
    { head: "score", number: true, cell: ({ score }) => decimal(score), csv: ({ score }) => score },
    {
      head: "how it adds up",
      cell: (item) => <Waterfall terms={terms.map((name) => ({ name, value: item[name] }))} low={low} high={high} />,
      csv: () => "",
    },
  ];
  return (
    <section class="card">
      <h2>
        {time(at)} UTC{several ? `, collection ${collection}` : ""}
      </h2>
      <p class="dim">
        {`${order.charAt(0).toUpperCase()}${order.slice(1)}`}, {learner}, gate {gate.toFixed(2)}.
      </p>
      <DataTable name="shown" columns={columns} rows={items} />
      <WaterfallKey terms={terms} />
      {notShown.length === 0 ? (
        <p class="dim">Nothing else was found.</p>
      ) : (
        <details open={notShown.length <= 10}>
          <summary>{plural(notShown.length, "candidate")} not shown</summary>
          <DataTable
            name="not shown"
            rows={notShown}
            columns={[
              { head: "place", number: true, cell: ({ rank }) => rank },
              { head: "without", number: true, cell: ({ hostRank }) => hostRank },
              {
                head: "memory",
                wide: true,
                cell: (item) => <MemoryLink memory={item} collection={collection} />,
                csv: ({ id, label }) => label ?? id,
              },
              {
                head: "similarity",
                number: true,
                cell: ({ similarity }) => decimal(similarity),
                csv: ({ similarity }) => similarity,
              },
              { head: "added", number: true, cell: ({ shift }) => signed(shift), csv: ({ shift }) => shift },
              { head: "score", number: true, cell: ({ score }) => decimal(score), csv: ({ score }) => score },
              { head: "why", cell: ({ reason }) => reason },
            ]}
          />
        </details>
      )}
    </section>
  );
}
