import { styleText } from "node:util";

/** The few emphases of the demo's output. */
export interface Style {
  bold(text: string): string;
  /** The arm that this is about. */
  strong(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
}

/** `colour: false` leaves text alone; otherwise NO_COLOR, TERM=dumb and a stream that is no terminal do. */
export function createStyle(colour: boolean, stream: NodeJS.WriteStream = process.stdout): Style {
  const paint =
    (format: Parameters<typeof styleText>[0]) =>
    (text: string): string =>
      colour && process.env.TERM !== "dumb" ? styleText(format, text, { stream }) : text;
  return {
    bold: paint("bold"),
    strong: paint(["bold", "cyan"]),
    dim: paint("dim"),
    good: paint("green"),
    bad: paint("red"),
  };
}
