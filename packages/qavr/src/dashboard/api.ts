import { statSync } from "node:fs";
import { type Engine, type NamespaceStatus, QavrError, type Store } from "@qavr/core";
import { CommandError } from "../exit-codes.js";
import { learnerWithId } from "../learner-table.js";
import { type Ledger, LISTED_NAMESPACES, ledgerIn } from "../open-ledger.js";
import { examineLoop, examineStorage } from "../reports/doctor.js";
import { MEMORY_ORDERS, type MemoryOrder, memoriesReport } from "../reports/memories.js";
import { runsReport } from "../reports/runs.js";
import { statusReport } from "../reports/status.js";
import { memoryReport, whyReport } from "../reports/why.js";

/** Memories that a page reads in the orders that no index has. */
const READ_MEMORIES = 5_000;
const ROWS = 100;
const RUNS = 50;
/** Answers that are kept while the ledger does not change. */
const CACHED = 64;

/** Answers questions about one store. Reads only. */
export interface Api {
  /** @throws CommandError for an unknown question, and what reports throw */
  answer(question: string, params: URLSearchParams): Promise<unknown>;
}

type Report = (ledger: Ledger, params: URLSearchParams) => Promise<unknown>;

const REPORTS: Readonly<Record<string, Report>> = {
  status: async (ledger) => {
    // The application may have added some.
    const namespaces = await ledger.store.namespaces({ limit: LISTED_NAMESPACES, onMissing: () => {} });
    return statusReport({ ...ledger, namespaces });
  },
  memories: (ledger, params) =>
    memoriesReport(ledger, {
      order: orderIn(params),
      limit: ROWS,
      after: params.get("after") ?? undefined,
      most: READ_MEMORIES,
    }),
  runs: (ledger, params) => runsReport(ledger, RUNS, placeIn(params)),
  run: (ledger, params) => whyReport(ledger, params.get("ref") ?? ""),
  memory: async (ledger, params) => {
    const ref = params.get("ref") ?? "";
    const found = await memoryReport(ledger, ref, params.get("collection") ?? undefined);
    if (found) return found;
    throw new CommandError("NOT_FOUND", `No memory of namespace ${ledger.namespace} is called ${ref}.`);
  },
  doctor: (ledger) => examineLoop(ledger, Date.now()),
  storage: examineStorage,
};

export function createApi(store: Store, place: string): Api {
  const ledgers = new Map<string, Ledger>();
  const cache = new Map<string, { readonly version: string; readonly answer: unknown }>();
  const file = fileAt(place);
  const statuses = new WeakMap<Ledger, { readonly version: string; readonly status: Promise<NamespaceStatus> }>();

  return {
    async answer(question, params) {
      // A deleted file can still be read, as it was.
      if (fileAt(place) !== file) {
        const message = `The file ${place} was deleted or replaced. Start npx qavr dashboard again.`;
        throw new QavrError("STORE_UNAVAILABLE", message);
      }
      const named = params.get("namespace") ?? undefined;
      let ledger = await open(named);
      const version = await versionOf(ledger);
      // The page asks this often, to notice a change.
      if (question === "version") return { namespace: ledger.namespace, version };
      const report = Object.hasOwn(REPORTS, question) ? REPORTS[question] : undefined;
      if (!report) throw new CommandError("NOT_FOUND", `There is no question ${question}.`);
      const key = `${question}?${params}`;
      const known = cache.get(key);
      if (known?.version === version) return known.answer;
      if (await isRelearned(ledger, version)) {
        ledgers.delete(named ?? "");
        ledger = await open(named);
      }
      const answer = await report(
        { ...ledger, engine: { ...ledger.engine, status: statusAt(ledger, version) } },
        params,
      );
      if (isPartial(ledger)) return answer;
      cache.delete(key);
      cache.set(key, { version, answer });
      if (cache.size > CACHED) cache.delete(cache.keys().next().value as string);
      return answer;
    },
  };

  async function open(named: string | undefined): Promise<Ledger> {
    const known = ledgers.get(named ?? "");
    // An empty ledger's namespace, learner and list of namespaces are not known yet.
    if (known && (await store.head(known.namespace)) > 0) return known;
    const ledger = await ledgerIn(store, place, named, { partial: true });
    if (!isPartial(ledger)) ledgers.set(named ?? "", ledger);
    return ledger;
  }

  /** True where the application has learned the ledger again, since it was opened, with another learner that is known here. */
  async function isRelearned(ledger: Ledger, version: string): Promise<boolean> {
    const { engine, namespace } = ledger;
    const status = await statusAt(ledger, version)({ namespace }).catch(() => undefined);
    if (!status || status.learner === engine.learner.id) return false;
    return (await learnerWithId(status.learner)) !== undefined;
  }

  /** The engine's status, which every report asks for: read once for each version of a ledger. */
  function statusAt(ledger: Ledger, version: string): Engine["status"] {
    return (options) => {
      if (options?.namespace !== ledger.namespace) return ledger.engine.status(options);
      const known = statuses.get(ledger);
      if (known?.version === version) return known.status;
      const reading = { version, status: ledger.engine.status(options) };
      statuses.set(ledger, reading);
      reading.status.catch(() => {
        if (statuses.get(ledger) === reading) statuses.delete(ledger);
      });
      return reading.status;
    };
  }
}

/** The number of a SQLite ledger's file; undefined for other places. */
function fileAt(place: string): number | undefined {
  return statSync(place, { throwIfNoEntry: false })?.ino;
}

/** True while a part of the store is away: it is looked for again at the next question. */
function isPartial({ missing }: Ledger): boolean {
  return missing.length > 0;
}

/** Another one after each change of a ledger: of its end, of its beginning by a compaction, and of states by a revocation. */
async function versionOf({ store, namespace }: Ledger): Promise<string> {
  await store.refresh?.(namespace);
  const head = await store.head(namespace);
  // Reports tell of a damaged entry.
  const [first] = await store.readEntries(namespace, { after: 0, limit: 1 }).catch(() => []);
  return [head, first?.seq, store.changesSince?.(namespace, 0).cursor].join("/");
}

function orderIn(params: URLSearchParams): MemoryOrder {
  const order = (params.get("order") ?? "worst") as MemoryOrder;
  if (MEMORY_ORDERS.includes(order)) return order;
  throw new CommandError("USAGE", `order must be one of ${MEMORY_ORDERS.join(", ")}.`);
}

function placeIn(params: URLSearchParams): number | undefined {
  const before = params.get("before");
  if (before === null) return undefined;
  const place = Number(before);
  if (Number.isSafeInteger(place) && place >= 1) return place;
  throw new CommandError("USAGE", "before must be a place in the ledger.");
}
