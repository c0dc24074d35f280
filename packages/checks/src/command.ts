import { execFile } from "node:child_process";
import { delimiter } from "node:path";
import { repositoryFile } from "./repository.js";

/** Result of a finished command. */
export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  /** Standard output and error in the order written, for messages. */
  readonly output: string;
}

/**
 * Runs a command to its end. Never rejects: a command that fails or is missing has an exit code other than 0.
 *
 * The workspace's own tools and its Node lead PATH, as they do in pnpm scripts.
 */
export function command(
  file: string,
  parameters: readonly string[],
  options: { readonly cwd: string },
): Promise<CommandResult> {
  const tools = [repositoryFile("packages/checks/node_modules/.bin"), repositoryFile("node_modules/.bin")];
  const path = [...tools, process.env.PATH ?? ""].join(delimiter);
  return new Promise((resolve) => {
    const child = execFile(
      file,
      parameters,
      {
        cwd: options.cwd,
        env: { ...inherited(), NO_COLOR: "1", FORCE_COLOR: "0", PATH: path },
        maxBuffer: 64 * 1024 * 1024,
        timeout: 120_000,
      },
      (failure, stdout) => {
        const exitCode = failure ? (typeof failure.code === "number" ? failure.code : 1) : 0;
        if (failure && typeof failure.code !== "number") chunks.push(failure.message);
        resolve({ exitCode, stdout, output: chunks.join("") });
      },
    );
    const chunks: string[] = [];
    child.stdout?.on("data", (chunk) => chunks.push(String(chunk)));
    child.stderr?.on("data", (chunk) => chunks.push(String(chunk)));
  });
}

/** This process's environment without what its test runner added, so that a command behaves as it does in a shell. */
function inherited(): NodeJS.ProcessEnv {
  const added = /^(VITEST|TEST$|NODE_ENV$|NODE_OPTIONS$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !added.test(name)));
}

/** pnpm as the script that runs this was started by it, else the one that npx brings. */
export function pnpm(parameters: readonly string[], cwd: string): Promise<CommandResult> {
  const started = process.env.npm_execpath;
  if (!started || !/pnpm[^/\\]*$/.test(started)) return command("npx", ["-y", "pnpm@12", ...parameters], { cwd });
  return /\.[cm]?js$/.test(started)
    ? command("node", [started, ...parameters], { cwd })
    : command(started, parameters, { cwd });
}
