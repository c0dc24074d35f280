import { execFileSync } from "node:child_process";
import fs, {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  symlinkSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { lessonFiles } from "../src/lesson-files.js";
import { markdownFiles } from "../src/markdown-files.js";
import { archiveIn } from "../src/procedures/archive.js";
import { PROCEDURE_FILES } from "../src/procedures/procedure-file.js";
import { fileReplacer } from "../src/procedures/replace-file.js";
import { proceduresOf } from "./support/procedures.js";
import { vault } from "./support/vault.js";

const PATH = "procedures/team/deploy.md";
const INSIDE = Buffer.from("Inside.\n");
const FINDERS = [
  "open",
  "lstat",
  "stat",
  "readFile",
  "readdir",
  "realpath",
  "mkdir",
  "rename",
  "rm",
  "unlink",
  "chmod",
] as const;

/** Runs `swap` just before the call of the file system with this number, while `work` is under way. Returns the number of calls. */
async function swapping(moment: number, swap: () => void, work: () => Promise<unknown>): Promise<number> {
  let calls = 0;
  for (const name of FINDERS) {
    const original = fs.promises[name] as (...args: unknown[]) => unknown;
    vi.spyOn(fs.promises, name).mockImplementation(((...args: unknown[]) => {
      if (calls++ === moment) swap();
      return original(...args);
    }) as never);
  }
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  }
  return calls;
}

/** Puts a symbolic link in the place of a file or folder, which is moved away. */
function swapForLink(root: string, path: string, target: string): void {
  if (existsSync(join(root, path))) renameSync(join(root, path), join(root, "moved"));
  mkdirSync(dirname(join(root, path)), { recursive: true });
  symlinkSync(target, join(root, path));
}

/** A folder outside with files of the same names as inside, and one in each folder that a link may show as another. */
const outsideFolder = () =>
  vault({
    "deploy.md": "Secret.\n",
    "team/deploy.md": "Secret.\n",
    "writes/999999999-x": "Secret.\n",
    "999999999-x": "Secret.\n",
  });

/** Every file below a folder, with its text. */
function snapshot(root: string): Record<string, string> {
  const paths = fs.readdirSync(root, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    paths.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(root.length), entry.isFile() ? readFileSync(path, "utf8") : ""];
    }),
  );
}

// Elsewhere folders have no handles, so a link in the place of one is found before the work alone.
describe.runIf(process.platform === "linux")(
  "a link that takes the place of a file or folder, at whatever moment",
  () => {
    /** Swaps before each call in turn, each time in a new folder. Returns the results. */
    async function atEachMoment<Result>(
      swap: (root: string, outside: string) => void,
      work: (root: string) => Promise<Result>,
      prepare: (root: string) => Promise<unknown> = async () => {},
    ): Promise<(Result | Error)[]> {
      const results: (Result | Error)[] = [];
      for (let moment = 0; ; moment++) {
        const [root, outside] = [vault({ [PATH]: INSIDE.toString() }), outsideFolder()];
        await prepare(root);
        const before = snapshot(outside);
        const calls = await swapping(
          moment,
          () => swap(root, outside),
          async () => {
            results.push(await work(root).catch((error: Error) => error));
          },
        );
        expect(snapshot(outside)).toEqual(before);
        if (moment >= calls) return results;
      }
    }

    const file = (root: string, outside: string): void => swapForLink(root, PATH, join(outside, "deploy.md"));
    const folder = (root: string, outside: string): void => swapForLink(root, "procedures/team", outside);
    const top = (root: string, outside: string): void => swapForLink(root, "procedures", outside);
    const own = (root: string, outside: string): void => swapForLink(root, ".qavr", outside);
    const writes = (root: string, outside: string): void => swapForLink(root, ".qavr/writes", outside);

    it.each([
      ["file", file],
      ["folder", folder],
      ["folder of the folder", top],
    ])("P18: leads no read to a %s outside", async (_, swap) => {
      const results = await atEachMoment(swap, async (root) => {
        const files = markdownFiles(root, PROCEDURE_FILES);
        const [path = PATH] = (await files.stamps()).keys();
        return files.read(path);
      });
      for (const result of results)
        expect(["Inside.\n", "", "ELOOP"]).toContain((result as { code?: string }).code ?? result);
      expect([results.length > 2, results.at(-1)]).toEqual([true, "Inside.\n"]);
    });

    it.each([
      ["file", file],
      ["folder", folder],
      ["folder of the folder", top],
      ["folder of writes", writes],
      ["folder of this library", own],
    ])("P18: leads no write to a %s outside", async (_, swap) => {
      const replaced = await atEachMoment(swap, (root) =>
        fileReplacer(root).replace(PATH, INSIDE, Buffer.from("New.\n")),
      );
      expect([replaced.length > 5, replaced.at(-1)]).toEqual([true, true]);
      const created = await atEachMoment(swap, (root) => fileReplacer(root).create("procedures/team/new.md", INSIDE));
      expect([created.length > 5, created.at(-1)]).toEqual([true, true]);
      const taken = await atEachMoment(swap, (root) => archiveIn(root, fileReplacer(root)).take(PATH, INSIDE));
      expect([taken.length > 5, taken.at(-1)]).toEqual([true, true]);
      const appended = await atEachMoment(swap, (root) => lessonFiles(root, "deploy.md").append(PATH, "More.\n"));
      expect(appended.at(-1)).toBeUndefined();
      const cleared = await atEachMoment(
        swap,
        (root) => fileReplacer(root).clear(),
        async (root) => fs.cpSync(outsideFolder(), join(root, ".qavr/writes"), { recursive: true }),
      );
      expect(cleared.length).toBeGreaterThan(1);
    });

    it("P18: makes no read wait for a pipe", async () => {
      const results = await atEachMoment(
        (root) => {
          const pipe = join(root, PATH);
          renameSync(pipe, join(root, "moved"));
          execFileSync("mkfifo", [pipe]);
          // A read that waits would hold its thread for ever.
          onTestFinished(() => closeSync(openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)));
        },
        (root) => markdownFiles(root, PROCEDURE_FILES).read(PATH),
      );
      expect(results.at(-1)).toBe("Inside.\n");
      expect(results).toContainEqual(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    }, 10_000);
  },
);

describe.skipIf(process.platform === "win32")(
  "a root with links of its own, such as a repository that was cloned",
  () => {
    it("loses no file outside when procedures are opened, stamped, accepted or restored", async () => {
      const outside = outsideFolder();
      const { root, procedures } = proceduresOf({ "procedures/deploy.md": "Deploy.\n" });
      await procedures.list();
      symlinkSync(outside, join(root, ".qavr/writes"));
      mkdirSync(join(root, ".qavr/jobs"));
      symlinkSync(join(outside, "deploy.md"), join(root, ".qavr/jobs/stamp"));
      symlinkSync(outside, join(root, ".qavr/drafts"));
      symlinkSync(outside, join(root, ".qavr/archive"));
      const before = snapshot(outside);
      await fileReplacer(root).clear();
      const draft = { name: "team", description: "Team.", body: "Work.\n" };
      for (const call of [() => procedures.stamp(), () => procedures.accept(draft), () => procedures.migrate()]) {
        await expect(call()).rejects.toMatchObject({ code: "STORE_UNWRITABLE" });
      }
      fs.rmSync(join(root, ".qavr/writes"));
      await expect(procedures.stamp()).rejects.toMatchObject({ code: "STORE_UNWRITABLE", cause: { code: "ELOOP" } });
      expect(snapshot(outside)).toEqual(before);
      fs.renameSync(join(root, "procedures"), join(root, "moved"));
      symlinkSync(outside, join(root, "procedures"));
      await expect(procedures.accept(draft)).rejects.toMatchObject({ code: "STORE_UNWRITABLE" });
      expect(await procedures.list()).toEqual([]);
      expect(snapshot(outside)).toEqual(before);
    });
  },
);

it("a file that the disk or its permissions keep from being written is named in a coded error", async () => {
  const { root, procedures } = proceduresOf({ "procedures/deploy.md": "Deploy.\n" });
  const cause = Object.assign(new Error("EACCES: permission denied, rename '/proc/self/fd/37/x'"), { code: "EACCES" });
  vi.spyOn(fs.promises, "rename").mockRejectedValue(cause);
  vi.spyOn(fs.promises, "rm").mockRejectedValue(cause);
  vi.spyOn(fs.promises, "unlink").mockRejectedValue(cause);
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  const refused = { code: "STORE_UNWRITABLE", cause: { code: "EACCES" } };
  const named = { ...refused, message: expect.stringContaining("procedures/deploy.md") };
  await expect(procedures.stamp()).rejects.toMatchObject(named);
  await expect(procedures.migrate()).rejects.toMatchObject(refused);
  const draft = { name: "team", description: "Team.", body: "Work.\n" };
  await expect(procedures.accept(draft)).rejects.toMatchObject(refused);
  const archive = archiveIn(root, { ...fileReplacer(root), create: async () => true });
  await expect(archive.take("procedures/deploy.md", Buffer.from("Deploy.\n"))).rejects.toMatchObject(named);
});
