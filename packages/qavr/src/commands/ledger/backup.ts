import { QavrError, type Store } from "@qavr/core";
import type { SqliteStore } from "@qavr/sqlite";
import { assertFree, fileNamed } from "../../open-ledger.js";
import { count } from "../../terminal/text.js";
import type { Input, Output } from "../command.js";

export async function run({ open, args }: Input): Promise<Output> {
  const { store } = await open();
  if (!isSqlite(store)) {
    throw new QavrError(
      "UNSUPPORTED",
      "Only a SQLite ledger is copied to a file. For PostgreSQL use pg_dump, or npx qavr ledger move.",
    );
  }
  const to = fileNamed(args[0] as string);
  assertFree(to);
  const report = await store.backup(to);
  return { data: report, text: () => `${count(report.entries)} entries copied to ${report.path} and verified.` };
}

function isSqlite(store: Store): store is SqliteStore {
  return store.name === "sqlite";
}
