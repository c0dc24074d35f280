import { runCommand } from "./command.js";

// `pnpm demo | head` closes the pipe early; that is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
});

process.exitCode = await runCommand(process.argv.slice(2), process);
