import type { JSX } from "preact";
import type { DoctorReport, StorageReport } from "../../reports/doctor.js";
import type { Finding } from "../../reports/finding.js";
import { LEAST_RUNS } from "../../reports/learning-state.js";
import type { StatusReport } from "../../reports/status.js";
import { count, percent, plural, shownLines } from "../../terminal/text.js";
import type { Loaded } from "./client.js";
import { DataTable, Report } from "./parts.js";

export function Health({
  loaded,
  status,
  storage,
}: {
  readonly loaded: Loaded<DoctorReport>;
  readonly status: Loaded<StatusReport>;
  readonly storage: Loaded<StorageReport>;
}): JSX.Element {
  return (
    <Report loaded={loaded}>
      {({ findings, entries, store, runs }) => (
        <>
          <section class="card">
            <h2>
              {findings.length > 0 ? (
                plural(findings.length, "finding")
              ) : Math.min(runs, entries) < LEAST_RUNS ? (
                "Too early to say"
              ) : (
                <span class="sound">✓ Nothing found</span>
              )}
            </h2>
            {runs < LEAST_RUNS ? <Early runs={runs} status={status} /> : null}
            <p class="dim">
              Checks of the loop on the latest {plural(entries, "entry", "entries")}: outcomes, ids, rewards,
              similarities, exposures, contexts, sources, clock.
            </p>
            <Findings findings={findings} />
          </section>
          {status.data ? <Sources {...status.data} /> : null}
          <section class="card">
            <h2>Ledger</h2>
            <p>
              <code>{store}</code>
            </p>
            <Storage loaded={storage} />
            <p class="dim">
              The dashboard reads only. <code>npx qavr doctor --fix</code> repairs what needs no decision.
            </p>
          </section>
        </>
      )}
    </Report>
  );
}

/** Facts that are known before most checks have enough runs. */
function Early({ runs, status }: { readonly runs: number; readonly status: Loaded<StatusReport> }): JSX.Element {
  const { outcomes, runs: counted, memories } = status.data ?? {};
  const shown = memories ? `, ${plural(memories.known, "memory", "memories")} shown` : "";
  const reported = Object.values(outcomes ?? {}).reduce((sum, number) => sum + number, 0);
  return (
    <p>
      Most checks need {LEAST_RUNS} runs; {plural(runs, "run")} so far.
      {counted
        ? ` Known already: ${plural(reported, "outcome")}, ${plural(counted.taught, "run")} that taught${shown}.`
        : ""}
    </p>
  );
}

function Findings({ findings }: { readonly findings: readonly Finding[] }): JSX.Element {
  return (
    <ul class="findings">
      {findings.map(({ id, finding, fix }) => (
        <li key={id}>
          <strong class="bad">▼ {id}</strong>
          <p>{finding}</p>
          <p class="dim">Fix: {shownLines(fix)}</p>
        </li>
      ))}
    </ul>
  );
}

function Storage({ loaded: { data, problem } }: { readonly loaded: Loaded<StorageReport> }): JSX.Element {
  if (problem) {
    return (
      <p class="bad">
        {problem.code}: {problem.message}
      </p>
    );
  }
  if (!data) return <p class="dim">Comparing the ledger with its digests …</p>;
  const { entries, checkpoint, verified, findings } = data;
  const compacted = checkpoint > 0 ? `, ${count(checkpoint)} compacted away` : "";
  return (
    <>
      <p>
        {plural(entries, "entry", "entries")}
        {compacted}.{" "}
        {!verified ? (
          <>
            Too long to be compared with its digests here: <code>npx qavr ledger verify</code>
          </>
        ) : findings.length === 0 ? (
          <span class="sound">✓ the whole ledger compared with its digests</span>
        ) : null}
      </p>
      <Findings findings={findings} />
    </>
  );
}

function Sources({ reporters, sources }: StatusReport): JSX.Element {
  const flags = new Map(sources.map((source) => [source.source, source]));
  return (
    <section class="card">
      <h2>Who reports</h2>
      {reporters.length === 0 ? (
        <p class="dim">No outcome with a reward was reported yet.</p>
      ) : (
        <DataTable
          name="sources"
          rows={reporters}
          columns={[
            { head: "source", wide: true, cell: ({ source }) => source },
            { head: "tier", cell: ({ tier }) => tier },
            {
              head: "outcomes",
              number: true,
              cell: ({ outcomes }) => count(outcomes),
              csv: ({ outcomes }) => outcomes,
            },
            { head: "success", number: true, cell: ({ success }) => percent(success), csv: ({ success }) => success },
            {
              head: "agrees with better evidence",
              number: true,
              cell: ({ source }) => {
                const audited = flags.get(source);
                return audited && audited.audits > 0 ? `${percent(audited.agreement)} of ${audited.audits}` : "";
              },
            },
            { head: "flags", cell: ({ source }) => (flags.get(source)?.flags ?? []).join(", ") },
          ]}
        />
      )}
    </section>
  );
}
