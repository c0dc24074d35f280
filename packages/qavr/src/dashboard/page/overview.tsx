import type { JSX } from "preact";
import { areSeveral } from "../../reports/collections.js";
import type { CurvePoint } from "../../reports/curve.js";
import type { StatusReport } from "../../reports/status.js";
import { count, percent, plural, points, signed, time } from "../../terminal/text.js";
import { Curve, SignedBar } from "./charts.js";
import type { Loaded } from "./client.js";
import { DataTable, Empty, Link, MemoryLink, Report } from "./parts.js";

export function Overview({ loaded }: { readonly loaded: Loaded<StatusReport> }): JSX.Element {
  return (
    <Report loaded={loaded}>
      {(report) => (report.state.level === "empty" ? <Nothing /> : <Screen {...report} />)}
    </Report>
  );
}

function Nothing(): JSX.Element {
  return (
    <Empty title="No run is recorded yet" command="npx qavr demo">
      Put the memory around your retriever and run the application once: this page follows it live. To look around
      first, there is a demo with a ledger of its own:
    </Empty>
  );
}

const WORDS: Readonly<Record<StatusReport["state"]["level"], string>> = {
  empty: "empty",
  unjudged: "not learning",
  cold: "cold",
  learning: "learning",
  harming: "harming",
};

function Screen(report: StatusReport): JSX.Element {
  const { state, curve, best, worst, contexts, sources } = report;
  // "Learning: 3,000 runs have taught. Lift …": the badge has the first word already.
  const [first = "", ...others] = state.sentence.replace(/^[^:.]+: /, "").split(/(?<=\.) /);
  const rest = others.join(" ");
  const far = Math.max(...[...best, ...worst].map(({ utility }) => Math.abs(utility)));
  const several = areSeveral([...best, ...worst]);
  const flagged = sources.filter(({ flags }) => flags.length > 0);
  return (
    <>
      <section class={`card state ${state.level}`}>
        <span class="badge">{WORDS[state.level]}</span>
        <h2>{first}</h2>
        {rest === "" ? null : <p>{rest}</p>}
        {state.level === "unjudged" || state.level === "harming" ? (
          <Link to={{ page: "health" }}>What is wrong?</Link>
        ) : null}
      </section>
      <Tiles {...report} />
      <section class="card">
        <h2>{curve.judged || curve.points.length === 0 ? "Success of judged runs" : "Runs that ended, none judged"}</h2>
        {curve.points.length === 0 ? (
          <p class="dim">The ledger has no judged run.</p>
        ) : (
          <>
            <Curve {...curve} />
            <p class="dim">
              {curve.points.some(({ interval }) => interval) ? "" : "Points of fewer than 30 runs have no interval. "}
              {curve.sampled ? "The ledger is long: 40 windows of it were read. " : ""}
              The curve alone is no proof: requests may have become easier.
            </p>
            <details>
              <summary>As a table</summary>
              <DataTable
                name="success"
                rows={curve.points}
                columns={[
                  { head: "from (UTC)", cell: ({ from }) => time(from) },
                  { head: "to", cell: ({ to }) => time(to) },
                  { head: "runs", number: true, cell: ({ runs }) => runs },
                  {
                    head: "success",
                    number: true,
                    cell: ({ success }) => percent(success),
                    csv: ({ success }) => success,
                  },
                  {
                    head: "95 % interval",
                    number: true,
                    cell: ({ interval }) => (interval ? `${percent(interval.low)} … ${percent(interval.high)}` : ""),
                  },
                  {
                    head: "held out",
                    number: true,
                    cell: ({ heldOut }) => (heldOut ? `${percent(heldOut.success)} of ${heldOut.runs}` : ""),
                  },
                ]}
              />
            </details>
          </>
        )}
      </section>
      <div class="columns">
        <Extremes title="Best memories" order="best" memories={best} none={NONE} far={far} several={several} />
        <Extremes
          title="Worst memories"
          order="worst"
          memories={worst}
          none={best.length > 0 ? "No other has evidence yet." : NONE}
          far={far}
          several={several}
        />
      </div>
      {contexts.length > 1 ? (
        <section class="card">
          <h2>Contexts</h2>
          <DataTable
            name="contexts"
            rows={contexts}
            columns={[
              { head: "context", cell: ({ context }) => context },
              { head: "runs", number: true, cell: ({ episodes }) => episodes },
              { head: "taught", number: true, cell: ({ taught }) => taught },
              { head: "state", cell: (row) => row.state },
            ]}
          />
        </section>
      ) : null}
      {flagged.length > 0 ? (
        <section class="card">
          <h2>Sources to look at</h2>
          <DataTable
            name="sources"
            rows={flagged}
            columns={[
              { head: "source", cell: ({ source }) => source },
              { head: "why", cell: ({ flags }) => flags.join(", ") },
            ]}
          />
        </section>
      ) : null}
    </>
  );
}

function Tiles({ runs, lift, memoryLift, curve, memories, outcomes }: StatusReport): JSX.Element {
  const last = curve.points.at(-1);
  const measured = typeof lift?.lift === "object" ? lift.lift : undefined;
  const tiers = Object.entries(outcomes)
    .filter(([, number]) => number > 0)
    .map(([tier, number]) => `${count(number)} ${tier}`);
  const total = Object.values(outcomes).reduce((sum, number) => sum + number, 0);
  return (
    <dl class="tiles">
      <div>
        <dt>success of late</dt>
        <dd>{last ? percent(last.success) : "–"}</dd>
        <dd class="dim">{last ? ofLate(curve.points) : "no judged run"}</dd>
      </div>
      <div>
        <dt>lift</dt>
        <dd>{measured ? `${points(measured.difference)} pts` : "–"}</dd>
        <dd class="dim">
          {measured
            ? `${points(measured.low)} … ${points(measured.high)}`
            : lift
              ? "too few runs yet"
              : "not measured yet"}
        </dd>
        {typeof memoryLift?.lift === "object" ? (
          <dd class="dim">
            memory itself {points(memoryLift.lift.difference)}: {points(memoryLift.lift.low)} …{" "}
            {points(memoryLift.lift.high)}
          </dd>
        ) : null}
      </div>
      <div>
        <dt>runs</dt>
        <dd>{count(runs.recorded)}</dd>
        <dd class="dim">
          {runs.suspended > 0 ? `${count(runs.suspended)} suspended` : ""}
          {runs.suspended > 0 && runs.coverage !== undefined ? ", of the others " : ""}
          {runs.coverage === undefined ? "" : `${percent(runs.coverage)} with an outcome`}
        </dd>
      </div>
      <div>
        <dt>memories</dt>
        <dd>{memories ? count(memories.withEvidence) : "–"}</dd>
        <dd class="dim">
          {memories ? `with evidence, ${count(memories.known)} shown` : "not known: their states cannot be read here"}
        </dd>
      </div>
      <div>
        <dt>outcomes</dt>
        <dd>{count(total)}</dd>
        <dd class="dim">{tiers.join(", ")}</dd>
      </div>
    </dl>
  );
}

/** Where the success of the last point comes from. */
function ofLate(curve: StatusReport["curve"]["points"]): string {
  const [first, last] = [curve[0], curve.at(-1)] as [CurvePoint, CurvePoint];
  const from = curve.length > 1 ? `from ${percent(first.success)}; ` : "";
  const interval = last.interval;
  return interval
    ? `${from}${percent(interval.low)} … ${percent(interval.high)}`
    : `${from}${plural(last.runs, "run")}`;
}

const NONE = "None has evidence yet.";

function Extremes({
  title,
  order,
  memories,
  none,
  far,
  several,
}: {
  readonly title: string;
  readonly order: string;
  readonly memories: StatusReport["best"];
  /** Text in place of an empty list. */
  readonly none: string;
  /** Greatest distance from 0, which both lists share. */
  readonly far: number;
  /** True where memories need the names of their collections. */
  readonly several: boolean;
}): JSX.Element {
  return (
    <section class="card">
      <h2>{title}</h2>
      {memories.length === 0 ? (
        <p class="dim">{none}</p>
      ) : (
        <ol class="extremes">
          {memories.map((memory) => (
            <li key={`${memory.collection} ${memory.id}`}>
              <span class={memory.utility >= 0 ? "value good" : "value bad"}>{signed(memory.utility, 2)}</span>
              <span>
                <MemoryLink memory={memory} collection={memory.collection} />
                {several ? <span class="dim"> {memory.collection}</span> : null}
              </span>
              <SignedBar value={memory.utility} far={far} />
            </li>
          ))}
        </ol>
      )}
      <Link to={{ page: "memories", order }}>All memories</Link>
    </section>
  );
}
