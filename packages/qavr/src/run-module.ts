import type { Input } from "./commands/command.js";
import type { Ledger, LedgerOptions } from "./open-ledger.js";

/** Runs a command, and closes the ledgers that it opened when `use` is done with its output. */
export async function runModule<O, T>(
  module: { run(input: Input): Promise<O> },
  given: Omit<Input, "open">,
  use: (output: O) => T | Promise<T>,
): Promise<T> {
  const opened: Ledger[] = [];
  const input: Input = {
    ...given,
    async open(access) {
      const { openLedger } = await import("./open-ledger.js");
      const ledger = await openLedger(given.options as LedgerOptions, access);
      opened.push(ledger);
      for (const part of ledger.missing) given.note(`The namespaces on ${part} are not listed: it does not answer.`);
      return ledger;
    },
  };
  try {
    return await use(await module.run(input));
  } finally {
    for (const ledger of opened) await ledger.close();
  }
}
