// `pnpm faults` runs the harnesses, `pnpm faults attacks` the attacks; each reads its own flags.
if (process.argv[2] === "attacks") {
  process.argv.splice(2, 1);
  await import("./attacks/main.js");
} else await import("./harness/main.js");
