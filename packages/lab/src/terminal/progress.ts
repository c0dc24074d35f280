/** Progress on stderr: a bar that redraws itself on a terminal, otherwise a plain line per tenth. */
export interface Progress {
  /** @param share of the whole that is done, 0..1 */
  update(share: number): void;
  /** Takes the bar away, so that something else may be printed. */
  clear(): void;
}

const BAR_WIDTH = 30;
/** Shorter work than this shows no bar. Ms. */
const PATIENCE = 500;
/** Least time between two drawings. Ms. */
const REDRAW = 100;

export function startProgress(label: string, stream: NodeJS.WriteStream): Progress {
  return stream.isTTY ? bar(label, stream) : lines(label, stream);
}

function bar(label: string, stream: NodeJS.WriteStream): Progress {
  const started = Date.now();
  let drawn = 0;
  return {
    update(share) {
      const now = Date.now();
      if (now - started < PATIENCE || now - drawn < REDRAW) return;
      drawn = now;
      const filled = Math.round(share * BAR_WIDTH);
      stream.write(`\r${"█".repeat(filled)}${"░".repeat(BAR_WIDTH - filled)} ${percent(share)} ${label}`);
    },
    clear() {
      if (drawn > 0) stream.write("\r\u001B[2K");
    },
  };
}

function lines(label: string, stream: NodeJS.WriteStream): Progress {
  let printed = 0;
  return {
    update(share) {
      const tenth = Math.floor(share * 10);
      if (tenth <= printed) return;
      printed = tenth;
      stream.write(`${label}: ${percent(tenth / 10)}\n`);
    },
    clear() {},
  };
}

function percent(share: number): string {
  return `${String(Math.round(share * 100)).padStart(3)} %`;
}

/** Shows the progress of some work on stderr. */
export async function withProgress<Result>(
  label: string,
  work: (update: (share: number) => void) => Promise<Result>,
): Promise<Result> {
  const progress = startProgress(label, process.stderr);
  try {
    return await work(progress.update);
  } finally {
    progress.clear();
  }
}
