import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

/** The output of a program in a process of its own. It imports the built packages. */
export async function answerOf<Answer>(program: string, ...args: string[]): Promise<Answer> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  return JSON.parse(await text(child.stdout)) as Answer;
}
