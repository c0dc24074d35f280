import { styleText } from "node:util";
import type { Progress } from "@qavr/core/maintenance";

/** The streams that a command writes to. */
export interface Streams {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/** Emphases of a page of text. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
}

/** Colour only where a person reads it: not with NO_COLOR, TERM=dumb, or into a pipe. */
export function createStyle(stream: NodeJS.WritableStream, colour: boolean): Style {
  const plain = !colour || process.env.TERM === "dumb";
  const paint =
    (format: Parameters<typeof styleText>[0]) =>
    (text: string): string =>
      plain ? text : styleText(format, text, { stream: stream as NodeJS.WriteStream });
  return { bold: paint("bold"), dim: paint("dim"), good: paint("green"), bad: paint("red") };
}

const REPEAT_MS = 250;
const LATEST_START_MS = 500;

/** Progress on standard error: a line that changes on a terminal after half a second, else a line for each tenth. */
export function progressOn(stderr: Streams["stderr"], label: string): { readonly to: Progress; end(): void } {
  const start = performance.now();
  let last = 0;
  let tenth = 0;
  let drawn = false;
  return {
    to(done, total) {
      const now = performance.now();
      if (now - start < LATEST_START_MS) return;
      const share = total === 0 ? 1 : done / total;
      if (stderr.isTTY) {
        if (now - last < REPEAT_MS) return;
        last = now;
        drawn = true;
        stderr.write(`\r\x1b[K${label}: ${Math.floor(share * 100)} %`);
      } else if (Math.floor(share * 10) > tenth) {
        tenth = Math.floor(share * 10);
        stderr.write(`${label}: ${tenth * 10} %\n`);
      }
    },
    end() {
      if (drawn) stderr.write("\r\x1b[K");
    },
  };
}
