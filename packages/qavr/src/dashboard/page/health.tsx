import type { JSX } from "preact";
import type { DoctorReport } from "../../reports/doctor.js";
import { count } from "../../terminal/text.js";
import type { Loaded } from "./client.js";
import { Report } from "./parts.js";

export function Health({ loaded }: { readonly loaded: Loaded<DoctorReport> }): JSX.Element {
  return (
    <Report loaded={loaded}>
      {({ findings, entries, verified, store }) => (
        <>
          <section class="card">
            <h2>
              {findings.length === 0
                ? "Nothing found"
                : `${findings.length} ${findings.length === 1 ? "finding" : "findings"}`}
            </h2>
            <p class="dim">
              {count(entries)} entries looked at
              {verified
                ? ", and the whole ledger compared with its digests"
                : ". qavr ledger verify compares the whole ledger with its digests"}
              .
            </p>
            <ul class="findings">
              {findings.map(({ id, finding, fix }) => (
                <li key={id}>
                  <strong>{id}</strong>
                  <p>{finding}</p>
                  <p class="dim">Fix: {fix}</p>
                </li>
              ))}
            </ul>
          </section>
          <section class="card">
            <h2>Ledger</h2>
            <p>
              <code>{store}</code>
            </p>
            <p class="dim">The dashboard reads only. qavr doctor --fix mends what needs no decision.</p>
          </section>
        </>
      )}
    </Report>
  );
}
