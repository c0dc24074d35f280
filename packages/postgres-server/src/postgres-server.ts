import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Binaries, type ServerUser, serverBinaries, serverUser, serverVersion } from "./binaries.js";
import { madeOnce } from "./made-once.js";

/** How a server is set up. */
export interface ServerOptions {
  /** Settings of postgresql.conf by name, such as `{ fsync: "off" }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A running server with one superuser, who has a password. Gone, with its data, when it is stopped or this process ends. */
export interface PostgresServer extends AsyncDisposable {
  readonly port: number;
  /** `postgres://` URL of a database, for the superuser unless others are named. */
  url(options?: { readonly database?: string; readonly user?: string; readonly password?: string }): string;
  /** Ends the server as a crash would: SIGKILL to its main process and to every session. Resolves when the main process is gone. */
  kill(): Promise<void>;
  /** Starts it again on its data, after {@link kill}. */
  restart(): Promise<void>;
  /** SIGSTOP and SIGCONT to the main process and to every session: the server is there and does not answer. */
  freeze(): void;
  thaw(): void;
  /**
   * Starts a streaming replica of it, on another port. The server is stopped for as long as copying its data takes: connect
   * afterwards.
   *
   * @param options.through where the replica finds the server: the port of a proxy before it. By default the server's own
   */
  startReplica(options?: { readonly through?: number }): Promise<PostgresServer>;
  stop(): Promise<void>;
}

/** The programs of a server, and the data that it begins with. */
export interface Installation {
  readonly binaries: Binaries;
  readonly user: ServerUser;
  /** Of the database cluster that servers start on copies of. */
  readonly template: string;
  /** How clients of this machine prove who they are. */
  readonly auth: "scram-sha-256" | "trust";
}

const SUPERUSER = { user: "postgres", password: "only for tests" };
/** A crashed server's sessions take a moment to notice; until then its memory is in use and another start is refused. */
const START_ATTEMPTS = 100;
const START_PAUSE = 100;

/**
 * Sets up a new server in a temporary folder and starts it on a free port of this machine.
 *
 * @throws Error with the server's log when it does not start
 */
export async function startServer({ settings = {} }: ServerOptions = {}): Promise<PostgresServer> {
  const user = serverUser();
  const binaries = await serverBinaries(user);
  return startFrom({ binaries, user, template: `data-${await serverVersion()}`, auth: "scram-sha-256" }, settings);
}

/** As {@link startServer}, from another installation. */
export async function startFrom(
  installation: Installation,
  settings: Readonly<Record<string, string>>,
): Promise<PostgresServer> {
  const { template, user } = installation;
  return serve(installation, settings, async (data) => {
    await copyData(
      await madeOnce(`${template}-${user.uid ?? "own"}`, (fresh) => initialise(installation, fresh)),
      data,
    );
  });
}

async function serve(
  installation: Installation,
  settings: Readonly<Record<string, string>>,
  fill: (data: string) => Promise<void>,
): Promise<PostgresServer> {
  const { binaries, user } = installation;
  const folder = mkdtempSync(join(tmpdir(), "qavr-postgres-"));
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid as number);
  const data = join(folder, "data");
  const guard = guardAgainstOrphans(folder, data);
  try {
    await fill(data);
    const port = await freePort();
    const flags = Object.entries({ listen_addresses: "localhost", unix_socket_directories: folder, ...settings });
    const start = (): Promise<ChildProcess> =>
      startOnce(binaries.postgres, ["-D", data, "-p", String(port), ...flags.flatMap(setting)], user);
    let running = await start();
    const end = async (signal: NodeJS.Signals): Promise<void> => {
      if (running.exitCode !== null || running.signalCode !== null) return;
      const gone = once(running, "exit");
      running.ref();
      if (signal === "SIGKILL") signalAll(running, signal);
      else running.kill(signal);
      await gone;
    };
    const stop = async (): Promise<void> => {
      signalAll(running, "SIGCONT");
      await end("SIGINT");
      guard.stdin?.end();
      await rm(folder, { recursive: true, force: true });
    };
    return {
      port,
      url({ database = "postgres", user: name = SUPERUSER.user, password = SUPERUSER.password } = {}) {
        return `postgres://${encodeURIComponent(name)}:${encodeURIComponent(password)}@localhost:${port}/${database}`;
      },
      kill: () => end("SIGKILL"),
      async restart() {
        running = await startAfterCrash(start);
      },
      freeze: () => signalAll(running, "SIGSTOP"),
      thaw: () => signalAll(running, "SIGCONT"),
      async startReplica({ through = port } = {}) {
        const primary = `host=localhost port=${through} user=${SUPERUSER.user} password='${SUPERUSER.password}'`;
        await end("SIGINT");
        const replica = await serve(installation, { ...settings, primary_conninfo: primary }, async (copy) => {
          await copyData(data, copy);
          writeFileSync(join(copy, "standby.signal"), "");
          running = await start();
        });
        return replica;
      },
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    guard.stdin?.end();
    throw error;
  }
}

const setting = ([name, value]: readonly [string, string]): string[] => ["-c", `${name}=${value}`];

/**
 * A process that ends the server and removes its folder as soon as this process has gone, however it went: the pipe between them
 * closes then.
 */
function guardAgainstOrphans(folder: string, data: string): ChildProcess {
  const script = 'read -r line; kill -QUIT "$(head -n 1 "$2/postmaster.pid")" 2>/dev/null; sleep 1; rm -rf "$1"';
  const guard = spawn("sh", ["-c", script, "guard", folder, data], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  guard.unref();
  (guard.stdin as unknown as { unref(): void }).unref();
  return guard;
}

/** A new database cluster, which takes a second or two of the processor: servers start on copies of one. */
async function initialise({ binaries, user, auth }: Installation, data: string): Promise<void> {
  const passwordFile = `${data}-password`;
  writeFileSync(passwordFile, SUPERUSER.password, { mode: 0o644 });
  mkdirSync(data);
  if (user.uid !== undefined) chownSync(data, user.uid, user.gid as number);
  const flags = ["--encoding=UTF8", "--locale=C", "--auth-local=trust", `--auth-host=${auth}`, "--no-sync"];
  const names = [`--username=${SUPERUSER.user}`, `--pwfile=${passwordFile}`, `--pgdata=${data}`];
  const program = spawn(binaries.initdb, [...flags, ...names], { ...user, stdio: ["ignore", "ignore", "pipe"] });
  const log = collect(program);
  const [code] = await once(program, "exit");
  if (code !== 0) throw new Error(`initdb failed: ${log()}`);
}

/** Copies a server's data with its owner. Copying a thousand files in Node would take longer than starting the server. */
async function copyData(from: string, to: string): Promise<void> {
  const [code] = await once(spawn("cp", ["-Rp", from, to], { stdio: "inherit" }), "exit");
  if (code !== 0) throw new Error(`Copying a database from ${from} to ${to} failed.`);
}

async function startOnce(postgres: string, flags: readonly string[], user: ServerUser): Promise<ChildProcess> {
  const server = spawn(postgres, flags, { ...user, stdio: ["ignore", "ignore", "pipe"] });
  const log = collect(server);
  await new Promise<void>((resolve, reject) => {
    server.stderr?.on("data", () => {
      if (/database system is ready to accept (read-only )?connections/.test(log())) resolve();
    });
    server.once("error", reject);
    server.once("exit", () => reject(new Error(`PostgreSQL did not start: ${log()}`)));
  });
  // The server must not keep the process alive that started it.
  server.unref();
  (server.stderr as unknown as { unref(): void }).unref();
  return server;
}

async function startAfterCrash(start: () => Promise<ChildProcess>): Promise<ChildProcess> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start();
    } catch (error) {
      if (attempt === START_ATTEMPTS) throw error;
      await pause(START_PAUSE);
    }
  }
}

/** The end of what a program writes to its standard error. */
function collect(program: ChildProcess): () => string {
  let text = "";
  program.stderr?.on("data", (chunk: Buffer) => {
    text = (text + chunk).slice(-8_000);
  });
  return () => text;
}

/** To a process and its children: the sessions are children of the main process. Linux only. */
function signalAll({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  for (const child of [pid, ...childrenOf(pid)]) {
    try {
      process.kill(child, signal);
    } catch {
      // It ended between the listing and the signal.
    }
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "localhost");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, "close");
  return port;
}
