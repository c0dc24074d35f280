import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const folder = fileURLToPath(new URL("..", import.meta.url));

/** The lines that each program prints. */
const PRINTED = {
  "support-agent": [
    "1. Failed: the customer is still stuck.   rank without learning: 1",
    "2. Failed: the customer is still stuck.   rank without learning: 1",
    "3. Solved: split it by month.             rank without learning: 2",
    "4. Solved: clear the session cookie.      rank without learning: 2",
    "5. Solved: split it by month.             rank without learning: 1",
    "2 failures, 6 ends; 5 runs taught it",
  ],
  "scorer-rewards": [
    "1. Sehr geehrte Frau  reward 0.2",
    "2. Servus             reward 0.9",
    "3. Servus             reward 0.9",
    "4. Servus             reward 0.9",
  ],
  "ranked-skills": [
    "1. sent as in invoice-by-mail",
    "2. sent as in invoice-by-phone",
    "3. sent as in invoice-by-portal",
    "4. sent as in invoice-by-portal",
    "5. sent as in invoice-by-portal",
    "6. sent as in invoice-by-portal",
  ],
  "suspend-resume": [
    "process 1: waiting for approval, its episode is suspended",
    "process 2: rolled out with helm",
    "process 2: its episode is ended, reward 1 for 1 memory shown by process 1",
  ],
};

describe("the example", () => {
  it.each(Object.entries(PRINTED))("%s learns from its runs", async (name, lines) => {
    const child = spawn(process.execPath, [`${folder}${name}/main.ts`], { stdio: ["ignore", "pipe", "inherit"] });
    expect((await text(child.stdout)).trimEnd().split("\n")).toEqual(lines);
  });
});
