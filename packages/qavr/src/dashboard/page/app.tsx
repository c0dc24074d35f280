import { type JSX, render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { DoctorReport, StorageReport } from "../../reports/doctor.js";
import type { MemoriesReport } from "../../reports/memories.js";
import type { RunsReport } from "../../reports/runs.js";
import type { StatusReport } from "../../reports/status.js";
import type { WhyReport } from "../../reports/why.js";
import { type Problem, takeToken, useLive, useReport } from "./client.js";
import { Health } from "./health.js";
import { hrefOf, type Place, readPlace } from "./location.js";
import { Memories } from "./memories.js";
import { Memory } from "./memory.js";
import { Overview } from "./overview.js";
import { Link, Navigating } from "./parts.js";
import { Run, Runs } from "./runs.js";

const PAGES = { overview: "Overview", memories: "Memories", runs: "Runs", health: "Health" } as const;
/** The entry of the navigation that a page belongs to. */
const PARENTS: Readonly<Record<string, string>> = { memory: "memories", run: "runs" };

function App(): JSX.Element {
  const [place, setPlace] = useState(readPlace);
  useEffect(() => {
    const back = (): void => {
      // An address that differs in its token alone loads no page.
      takeToken();
      setPlace(readPlace());
    };
    addEventListener("popstate", back);
    return () => removeEventListener("popstate", back);
  }, []);
  const go = (to: Place): void => {
    // Typing words is no step to go back to.
    const same = to.page === place.page && to.words !== place.words;
    history[same ? "replaceState" : "pushState"](null, "", hrefOf(to));
    setPlace(to);
    // All rows begin with those that the reader has seen.
    if (!same && to.rows === undefined) scrollTo(0, 0);
  };
  const live = useLive(place);
  const status = useReport<StatusReport>("status", place, [], live.version);
  // The list of namespaces stays while another one loads, and keeps the keyboard's focus.
  const known = useRef<StatusReport | undefined>(undefined);
  known.current = status.data ?? known.current;
  const current = PARENTS[place.page] ?? place.page;
  useEffect(() => {
    document.title = `${PAGES[current as keyof typeof PAGES] ?? "Not found"} · qavr`;
  }, [current]);
  return (
    <Navigating.Provider value={{ place, go }}>
      <header>
        <div class="bar">
          <strong class="mark-of-qavr">
            <Mark />
            qavr
          </strong>
          <nav aria-label="Pages">
            {Object.entries(PAGES).map(([page, title]) => (
              <Link key={page} to={{ page }} current={page === current}>
                {title}
              </Link>
            ))}
          </nav>
          {known.current ? <Namespaces report={known.current} go={go} place={place} /> : null}
        </div>
      </header>
      {live.problem && status.data ? <Stale problem={live.problem} at={live.at} /> : null}
      <main>
        <h1>{PAGES[current as keyof typeof PAGES] ?? "Not found"}</h1>
        <Page key={place.page} place={place} version={live.version} status={status} />
      </main>
      <footer class="dim">
        Reads only. Nothing leaves this machine.{status.data ? ` Learner ${status.data.learner}.` : ""}
      </footer>
    </Navigating.Provider>
  );
}

function Page({
  place,
  version,
  status,
}: {
  readonly place: Place;
  readonly version: string;
  readonly status: ReturnType<typeof useReport<StatusReport>>;
}): JSX.Element {
  switch (place.page) {
    case "overview":
      return <Overview loaded={status} />;
    case "memories":
      return <Memories loaded={useReport<MemoriesReport>("memories", place, ["order", "after"], version)} />;
    case "memory":
      return (
        <Memory
          loaded={useReport<Extract<WhyReport, { readonly kind: "memory" }>>(
            "memory",
            place,
            ["ref", "collection"],
            version,
          )}
        />
      );
    case "runs":
      return <Runs loaded={useReport<RunsReport>("runs", place, ["before"], version)} />;
    case "run":
      return <Run loaded={useReport<WhyReport>("run", place, ["ref"], version)} />;
    case "health":
      return <HealthPage place={place} version={version} status={status} />;
    default:
      return <p class="card">There is no such page.</p>;
  }
}

function HealthPage({ place, version, status }: Parameters<typeof Page>[0]): JSX.Element {
  const loaded = useReport<DoctorReport>("doctor", place, [], version);
  // It reads the whole ledger: once per visit, and after the rest.
  const ready = loaded.data !== undefined && status.data !== undefined;
  const storage = useReport<StorageReport>("storage", place, [], "", ready);
  return <Health loaded={loaded} status={status} storage={storage} />;
}

/** Three results, of which the second has moved to the top. */
function Mark(): JSX.Element {
  return (
    <svg viewBox="0 0 22 22" aria-hidden="true">
      <rect class="bar good" x="2" y="3" width="18" height="4" rx="2" />
      <rect class="bar base" x="2" y="9.5" width="12" height="4" rx="2" />
      <rect class="bar base" x="2" y="16" width="7" height="4" rx="2" />
    </svg>
  );
}

function Namespaces({
  report,
  place,
  go,
}: {
  readonly report: StatusReport;
  readonly place: Place;
  go(place: Place): void;
}): JSX.Element {
  const names = [report.namespace, ...report.otherNamespaces].sort();
  if (names.length === 1) return <span class="dim namespace">{report.namespace}</span>;
  return (
    <label class="namespace">
      <span class="dim">namespace</span>
      <select
        value={place.namespace ?? report.namespace}
        onChange={({ currentTarget }) =>
          go({ page: PARENTS[place.page] ?? place.page, namespace: currentTarget.value })
        }
      >
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Stale({ problem, at }: { readonly problem: Problem; readonly at: number }): JSX.Element {
  return (
    <p class="note stale" role="alert">
      {problem.message} What you see is from {new Date(at).toLocaleTimeString()}.
    </p>
  );
}

takeToken();
render(<App />, document.getElementById("app") as HTMLElement);
