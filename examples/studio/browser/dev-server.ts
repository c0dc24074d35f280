import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** `mastra dev` on this project. */
export interface DevServer {
  readonly url: string;
  stop(): Promise<void>;
}

const PROJECT = fileURLToPath(new URL("..", import.meta.url));
/** Bundling takes half a minute where nothing else runs, ms. */
const PATIENCE = 240_000;

/**
 * Bundles the project and starts its server and Studio.
 *
 * @param folder where the example keeps its data
 * @throws Error with what `mastra dev` printed when it does not come up
 */
export async function startDevServer(folder: string): Promise<DevServer> {
  const port = await freePort();
  const cli = join(dirname(createRequire(import.meta.url).resolve("mastra/package.json")), "dist", "index.js");
  const path = `${dirname(process.execPath)}:${process.env.PATH}`;
  const child = spawn(process.execPath, [cli, "dev"], {
    cwd: PROJECT,
    env: { ...process.env, PATH: path, PORT: String(port), EXAMPLE_DATA: folder, MASTRA_TELEMETRY_DISABLED: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      printed += chunk;
    });
  }
  const url = `http://localhost:${port}`;
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    child.kill("SIGINT");
    await once(child, "exit");
  };
  for (const timeout = Date.now() + PATIENCE; Date.now() < timeout && child.exitCode === null; await pause(250)) {
    const answers = await fetch(`${url}/api/agents`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (answers) return { url, stop };
  }
  await stop();
  throw new Error(`mastra dev did not come up:\n${printed}`);
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0);
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, "close");
  return port;
}
