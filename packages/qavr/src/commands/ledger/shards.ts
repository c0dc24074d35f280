import { isPostgres, locationOf } from "@qavr/core/adapter";
import { CommandError } from "../../exit-codes.js";
import type { LedgerOptions } from "../../open-ledger.js";
import { plural } from "../../terminal/text.js";
import type { Input, Output } from "../command.js";

export async function run({ args, options, note }: Input): Promise<Output> {
  const connectionString = locationOf((options as LedgerOptions).store);
  if (!isPostgres(connectionString))
    throw new CommandError("USAGE", "Only a ledger in PostgreSQL has shards. Name one with --store.");
  const [number = ""] = args;
  // An empty text is 0 to Number(), which brings the ledger back.
  const shards = number === "" ? Number.NaN : Number(number);
  const { distributeLedger } = await import("@qavr/postgres");
  note("reads and writes of this ledger wait");
  await distributeLedger({ connectionString, shards });
  const text = shards > 0 ? `The ledger has ${plural(shards, "shard")} now.` : "The ledger is on one server now.";
  return { data: { shards }, text: () => text };
}
