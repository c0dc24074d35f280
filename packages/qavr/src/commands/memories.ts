import { CommandError } from "../exit-codes.js";
import { areSeveral } from "../reports/collections.js";
import { MEMORY_ORDERS, type MemoriesReport, type MemoryOrder, memoriesReport } from "../reports/memories.js";
import type { Style } from "../terminal/terminal.js";
import { count, nameOf, percent, shown, signed, table } from "../terminal/text.js";
import type { Input, Output } from "./command.js";

export async function run({ open, options, progress }: Input): Promise<Output> {
  const { limit, collection } = options as { readonly limit: number; readonly collection?: string };
  const order = options.worst === true ? "worst" : (options.order as MemoryOrder);
  if (!MEMORY_ORDERS.includes(order)) {
    throw new CommandError("USAGE", `--order must be one of ${MEMORY_ORDERS.join(", ")}. Received ${order}.`);
  }
  const request = { order, limit, collection, most: Number.POSITIVE_INFINITY };
  const report = await memoriesReport(await open(), request, progress("reading memories"));
  return { data: report, text: (style) => textOf(report, style) };
}

function textOf({ rows, unread }: MemoriesReport, style: Style): string {
  if (rows.length === 0) return "No memory has evidence yet: no run that showed one was judged.";
  const several = areSeveral(rows);
  const listed = table(
    ["utility", "evidence", "shown", "success", "95 %", "votes", ...(several ? ["collection"] : []), "memory"],
    rows.map((row) => [
      signed(row.utility, 2),
      row.evidence.toFixed(1),
      count(row.shown),
      row.success ? percent(row.success.share) : "",
      row.success ? `${Math.round(row.success.low * 100)}–${Math.round(row.success.high * 100)}` : "",
      row.helpful + row.harmful > 0 ? `${row.helpful}/${row.harmful}` : "",
      ...(several ? [shown(row.collection, 30)] : []),
      nameOf(row),
    ]),
  );
  if (unread === undefined) return listed;
  const left = `${count(unread)} further memories have nearly the same utility as some of these and are left out.`;
  return `${listed}\n${style.dim(left)}`;
}
