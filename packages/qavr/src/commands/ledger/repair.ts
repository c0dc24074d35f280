import { repair } from "@qavr/core/maintenance";
import { EXIT } from "../../exit-codes.js";
import { plural } from "../../terminal/text.js";
import type { Input, Output } from "../command.js";
import { textOf } from "./verify.js";

export async function run({ open }: Input): Promise<Output> {
  const { engine } = await open("write");
  const report = await repair(engine);
  return {
    data: report,
    text: () => `States of ${plural(report.rebuilt.length, "namespace")} were built again.\n${textOf(report.after)}`,
    ...(report.after.ok ? {} : { exitCode: EXIT.problems }),
  };
}
