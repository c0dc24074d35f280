import { InvalidArgumentError, Option } from "commander";
import type { CommandModule } from "./commands/command.js";

/** How one command is called. */
export interface CommandEntry {
  /** `status`, or `ledger verify` in a group. */
  readonly name: string;
  readonly summary: string;
  /** Arguments as commander writes them. */
  readonly args?: string;
  readonly options?: readonly Option[];
  readonly examples: readonly [string, string];
  /** @default true */
  readonly opensLedger?: false;
  /** Loaded when it runs: a command starts without the code of the others. */
  readonly load: () => Promise<CommandModule>;
}

export const DESCRIPTION =
  "See which memories help: what a qavr ledger has learned, why memories were ranked as they were, and what is wrong.";

export const GROUPS: Readonly<Record<string, string>> = {
  ledger: "check, copy and maintain the ledger",
  notes: "own memories of @qavr/local",
};

const whole =
  (least: number, most = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    // An empty text is 0 to Number().
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
    const range = most === Number.MAX_SAFE_INTEGER ? `from ${least} on` : `from ${least} to ${most}`;
    throw new InvalidArgumentError(`It must be a whole number ${range}.`);
  };

const moment = (text: string): number => {
  // Date.parse() alone takes "100" for the year 100, and "week 3" for a day in 2001.
  const isTime = /^\d{4}-\d\d-\d\d/.test(text);
  // A time without a zone is one that was printed: UTC.
  const value = isTime ? Date.parse(/[T ][\d:.]+$/.test(text) ? `${text}Z` : text) : Number.NaN;
  if (!Number.isNaN(value)) return value;
  throw new InvalidArgumentError("It must be a time such as 2026-05-01 or 2026-05-01T12:00Z.");
};

const file = (): Option => new Option("-f, --file <path>", "file of the notes (default: .qavr/memories.db)");

const limit = (): Option => new Option("-l, --limit <number>", "how many to list").default(20).argParser(whole(1));

export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "status",
    summary: "is it learning, does it help, how sure: one screen",
    examples: ["status", "status --store postgres://localhost/app --namespace support"],
    load: () => import("./commands/status.js"),
  },
  {
    name: "doctor",
    summary: "what keeps it from learning: is the loop closed, is the ledger whole (writes with --fix)",
    options: [new Option("--fix", "repair indexes and states, and complete an interrupted revocation")],
    examples: ["doctor", "doctor --json || echo 'the loop is open'"],
    load: () => import("./commands/doctor.js"),
  },
  {
    name: "dashboard",
    summary: "the same in a browser, live; on this machine only, for reading only",
    options: [
      new Option("-p, --port <number>", "port on 127.0.0.1 (default: 4180 or the next free one)").argParser(
        whole(0, 65_535),
      ),
      new Option(
        "--allow-host <name...>",
        "names besides localhost under which it is opened, such as a dev container's",
      ),
    ],
    examples: ["dashboard", "dashboard --port 8080 --store postgres://localhost/app"],
    load: () => import("./commands/dashboard.js"),
  },
  {
    name: "why",
    summary: "why a run got its memories, or where a memory was ranked and why it was not shown",
    args: "<run-or-memory>",
    options: [new Option("-c, --collection <name>", "collection of the memory (default: the one that found it last)")],
    examples: ["why 4ncb1r0gzr1x8bq2h6k5v9wtd", 'why "reset-password" --json'],
    load: () => import("./commands/why.js"),
  },
  {
    name: "memories",
    summary: "list memories with what is known of them",
    options: [
      new Option("-w, --worst", "lowest utility first; short for --order worst"),
      new Option("-o, --order <order>", "worst, best, shown or unsure").default("best"),
      new Option("-c, --collection <name>", "only this collection"),
      limit(),
    ],
    examples: ["memories --worst", "memories --order shown --limit 100 --json"],
    load: () => import("./commands/memories.js"),
  },
  {
    name: "runs",
    summary: "list the latest runs",
    options: [
      limit(),
      new Option("-b, --before <place>", "only runs before this place in the ledger").argParser(whole(1)),
    ],
    examples: ["runs", "runs --limit 100 --json"],
    load: () => import("./commands/runs.js"),
  },
  {
    name: "mcp",
    summary: "an MCP server: status, doctor, why, memories and runs as tools of an agent or editor; for reading only",
    examples: ["mcp", "mcp --store /srv/app/.qavr/ledger.db"],
    load: () => import("./commands/mcp.js"),
  },
  {
    name: "eval",
    summary: "ask another learner about the recorded runs: what would it have shown, how would that have gone",
    options: [
      new Option(
        "--learner <name>",
        "name of a learner, such as similarity, qValue, successRate",
      ).makeOptionMandatory(),
    ],
    examples: ["eval --learner similarity", "eval --learner successRate --namespace support"],
    load: () => import("./commands/eval.js"),
  },
  {
    name: "revoke",
    summary: "take outcomes out of learning (writes with --yes)",
    options: [
      new Option("--source <name>", "outcomes of this source"),
      new Option("--from <time>", "outcomes reported from here on").argParser(moment),
      new Option("--to <time>", "outcomes reported up to here").argParser(moment),
      new Option("--from-seq <place>", "outcomes from this place in the ledger on").argParser(whole(1)),
      new Option("--to-seq <place>", "outcomes up to this place in the ledger").argParser(whole(1)),
      new Option("--dry-run", "only say what would change"),
      new Option("--yes", "take them out for good"),
    ],
    examples: ["revoke --source thumbs --dry-run", "revoke --source thumbs --from 2026-05-01 --yes"],
    load: () => import("./commands/revoke.js"),
  },
  {
    name: "demo",
    summary: "let it learn on a made-up support desk, in a temporary ledger, and show the result",
    options: [new Option("--runs <number>", "runs to learn from").default(600).argParser(whole(20))],
    opensLedger: false,
    examples: ["demo", "demo --runs 200 --json"],
    load: () => import("./commands/demo.js"),
  },
  {
    name: "notes add",
    summary: "keep a note (writes)",
    args: "<text>",
    options: [file(), new Option("--id <id>", "id of the note; one that is known is replaced")],
    opensLedger: false,
    examples: ['notes add "On EACCES, fix the permissions."', 'notes add --id deploy "Clear the cache first."'],
    load: () => import("./commands/notes/add.js"),
  },
  {
    name: "notes search",
    summary: "find notes by their words",
    args: "<words...>",
    options: [file(), limit()],
    opensLedger: false,
    examples: ["notes search deploy fails", "notes search EACCES --limit 3 --json"],
    load: () => import("./commands/notes/search.js"),
  },
  {
    name: "notes prune",
    summary: "archive notes that misled, by the votes on them (writes with --yes)",
    options: [
      file(),
      new Option("-c, --collection <name>", "name of the notes in the ledger: localMemories({ name })").default(
        "memories",
      ),
      new Option("--dry-run", "only say what would be archived"),
      new Option("--yes", "archive them; nothing is deleted"),
    ],
    examples: ["notes prune --dry-run", "notes prune --yes --file team.db"],
    load: () => import("./commands/notes/prune.js"),
  },
  {
    name: "ledger verify",
    summary: "read everything and compare it with its digests",
    examples: ["ledger verify", "ledger verify --store backup.db --json"],
    load: () => import("./commands/ledger/verify.js"),
  },
  {
    name: "ledger repair",
    summary: "build indexes and states again from the ledger (writes)",
    examples: ["ledger repair", "ledger repair --store postgres://localhost/app"],
    load: () => import("./commands/ledger/repair.js"),
  },
  {
    name: "ledger compact",
    summary: "drop old entries and keep what was learned (writes with --yes)",
    options: [
      new Option("--older-than <days>", "age of the entries that go").default(30).argParser(whole(0)),
      new Option("--yes", "drop them for good"),
    ],
    examples: ["ledger compact --older-than 90 --yes", "ledger compact --namespace support --yes"],
    load: () => import("./commands/ledger/compact.js"),
  },
  {
    name: "ledger backup",
    summary: "copy a SQLite ledger to a new file and verify the copy; applications may go on writing",
    args: "<file>",
    examples: ["ledger backup backup.db", "ledger backup /backups/monday.db --store app/.qavr/ledger.db"],
    load: () => import("./commands/ledger/backup.js"),
  },
  {
    name: "ledger restore",
    summary: "make a ledger of a backup, at a new path (writes)",
    args: "<backup> <file>",
    opensLedger: false,
    examples: ["ledger restore backup.db .qavr/ledger.db", "ledger restore backup.db restored.db --json"],
    load: () => import("./commands/ledger/restore.js"),
  },
  {
    name: "ledger move",
    summary: "copy a ledger to an empty place, SQLite or PostgreSQL, and verify it there (writes there)",
    options: [new Option("--to <place>", "path or postgres:// URL").makeOptionMandatory()],
    examples: [
      "ledger move --to postgres://localhost/app",
      "ledger move --store postgres://localhost/app --to ledger.db",
    ],
    load: () => import("./commands/ledger/move.js"),
  },
  {
    name: "ledger shards",
    summary: "distribute a PostgreSQL ledger over a Citus cluster, or bring it back with 0 shards (writes)",
    args: "<number>",
    examples: [
      "ledger shards 32 --store postgres://coordinator/app",
      "ledger shards 0 --store postgres://coordinator/app",
    ],
    load: () => import("./commands/ledger/shards.js"),
  },
  {
    name: "ledger export",
    summary: "print what was learned of a collection, for another namespace or ledger",
    options: [new Option("-c, --collection <name>", "which collection (default: the only one)")],
    examples: ["ledger export > learned.json", "ledger export --collection docs --namespace support > learned.json"],
    load: () => import("./commands/ledger/export.js"),
  },
  {
    name: "ledger import",
    summary: "take over what another ledger has learned (writes)",
    args: "<file>",
    examples: ["ledger import learned.json", "ledger import learned.json --store new.db --namespace support"],
    load: () => import("./commands/ledger/import.js"),
  },
];
