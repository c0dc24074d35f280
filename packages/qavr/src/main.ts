#!/usr/bin/env node
// Nothing is imported before this check: older versions of Node cannot load the rest.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 13)) {
  process.stderr.write(`qavr needs Node 22.13 or newer. This is Node ${process.versions.node}.\n`);
  process.exitCode = 6;
} else {
  // `qavr runs | head` closes the pipe early; that is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    process.stderr.write(`error: standard output takes no more: ${error.code}.\n`);
    process.exit(1);
  });
  // Without a reader of progress and messages the work goes on.
  process.stderr.on("error", () => {});
  // Node 22 announces node:sqlite as experimental; the ledger's format does not depend on it.
  process.removeAllListeners("warning");
  const { runProgram } = await import("./program.js");
  process.exitCode = await runProgram(process.argv.slice(2), process);
}
