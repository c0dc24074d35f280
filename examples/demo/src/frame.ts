/** A block of lines on a terminal that each drawing replaces. */
export interface Frame {
  draw(text: () => string): void;
  clear(): void;
}

/** Least time between two drawings, ms. */
const REDRAW = 120;

/** Draws on a terminal; elsewhere it draws nothing. */
export function createFrame(stream: NodeJS.WriteStream): Frame | undefined {
  if (!stream.isTTY || process.env.TERM === "dumb") return undefined;
  let lines = 0;
  let drawn = 0;
  const clear = (): void => {
    if (lines > 0) stream.write(`\u001B[${lines}A\u001B[0J`);
    lines = 0;
  };
  return {
    draw(text) {
      const now = Date.now();
      if (now - drawn < REDRAW) return;
      drawn = now;
      clear();
      const block = text();
      stream.write(`${block}\n`);
      lines = block.split("\n").length;
    },
    clear,
  };
}
