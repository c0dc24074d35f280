import { execFileSync } from "node:child_process";
import fs, { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { isPossibleId } from "../src/procedures/procedure-file.js";
import { proceduresOf } from "./support/procedures.js";
import { vault } from "./support/vault.js";

/** Names of files outside, and names that some file system reads as another one. */
const ATTACKS: readonly unknown[] = [
  ...[
    "../secret",
    "..",
    ".",
    "./deploy",
    "a/../../secret",
    "a/./b",
    "a//b",
    "/etc/passwd",
    "deploy/",
    "~/.ssh/id",
  ].flatMap((path) => [path, `procedure:${path}`.replace("~", "."), `skill:${path}`.replace("~", ".")]),
  ...[
    "%2e%2e/secret",
    "%2e%2e%2fsecret",
    "..\\secret",
    "C:\\secret",
    "C:secret",
    "\\\\host\\share",
    "file:///etc/passwd",
    "deploy\0.md",
  ].map((path) => `procedure:${path}`),
  ...[
    "con.",
    "deploy ",
    "deploy.",
    " deploy",
    ".hidden",
    "a/.git/config",
    "deploy\n",
    "deploy::$DATA",
    "\u202edeploy\u0007",
  ].map((path) => `procedure:${path}`),
  ...["../mem-evil/deploy", "procedures/../../mem-evil/deploy"].map((path) => `procedure:${path}`),
  `procedure:${"x".repeat(4_096)}`,
  "procedure:\ud800",
  "procedures/deploy.md",
  "procedure:",
  "",
  "__proto__",
  "constructor",
  null,
  undefined,
  7,
  ["procedure:deploy"],
  { toString: () => "procedure:deploy" },
];

describe("ids", () => {
  it("P18: that are paths are refused by every call before it reads anything", async () => {
    const { engine, procedures } = proceduresOf({ "procedures/deploy.md": "Deploy.\n" });
    const disk = [
      vi.spyOn(fs, "readdir"),
      vi.spyOn(fs.promises, "readFile"),
      vi.spyOn(fs.promises, "lstat"),
      vi.spyOn(fs.promises, "open"),
    ];
    // Opening clears the folder of writes meanwhile.
    const isOpening = (path: unknown): boolean => /\.qavr|writes/.test(String(path));
    const touched = (): number =>
      disk.flatMap(({ mock }) => mock.calls.map(([path]) => path)).filter((path) => !isOpening(path)).length;
    syncBuiltinESMExports();
    onTestFinished(() => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    });
    const history = vi.spyOn(engine, "history");
    let refused = 0;
    for (const id of ATTACKS as readonly string[]) {
      expect(isPossibleId(id), String(id)).toBe(false);
      for (const call of [
        () => procedures.load(id),
        () => procedures.report(id, { success: true }),
        () => procedures.get(id),
      ]) {
        await expect(call(), String(id)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
        refused += 1;
      }
    }
    expect(refused).toBe(3 * ATTACKS.length);
    expect([touched(), history.mock.calls.length]).toEqual([0, 0]);
    await procedures.get("procedure:none");
    expect(touched()).toBeGreaterThan(0);
    expect({}).not.toHaveProperty("success");
  });

  it.skipIf(process.platform === "win32")(
    "P18: name every listed procedure: a file that can have none is left out, named in a warning, and stops no other",
    async () => {
      const legal = ["100% sure", "CPU at 80%", "a (1)", "[slug]"];
      const illegal = [
        "10:30 standup",
        "dot.",
        "space ",
        "a%20b",
        `${"x".repeat(200)}/${"y".repeat(200)}/${"z".repeat(90)}`,
      ];
      const warn = vi.fn();
      const files = [...legal, ...illegal].map((name) => [`procedures/${name}.md`, `${name}\n`]);
      const { procedures } = proceduresOf(Object.fromEntries(files), { logger: { warn } });
      const ids = (await procedures.list()).map(({ id }) => id);
      expect(ids.sort()).toEqual(legal.map((name) => `procedure:${name}`).sort());
      for (const id of ids) expect(`procedure:${(await procedures.load(id)).text.trim()}`).toBe(id);
      expect(warn.mock.calls.map(([message, { code }]) => [code, message.split(".md ")[0]]).sort()).toEqual(
        illegal.map((name) => ["PROCEDURE_FILE_UNREADABLE", `procedures/${name}`]).sort(),
      );
    },
  );

  it("P18: are compared letter by letter: another Unicode form or case is another procedure", async () => {
    const { procedures } = proceduresOf({ "procedures/café.md": "Coffee.\n" });
    const [only] = await procedures.list();
    const id = only?.id as string;
    expect(await procedures.get(id)).toBeDefined();
    for (const other of [id.normalize("NFD"), id.toUpperCase().replace("PROCEDURE", "procedure")]) {
      expect(await procedures.get(other)).toBeUndefined();
    }
  });
});

describe.skipIf(process.platform === "win32")("files that are no plain files", () => {
  it("P18: are not read, whether link, folder behind a link, pipe or device; a hard link keeps its other name's bytes", async () => {
    const outside = vault({ "secret.md": "Secret.\n", "skill/SKILL.md": "Secret skill.\n", "linked.md": "Linked.\n" });
    const { root, procedures } = proceduresOf({ "procedures/deploy.md": "Deploy.\n", "skills/keep.md": "Kept.\n" });
    symlinkSync(join(outside, "secret.md"), join(root, "procedures/secret.md"));
    symlinkSync(outside, join(root, "procedures/folder"));
    symlinkSync(join(outside, "skill"), join(root, "skills/skill"));
    symlinkSync("/dev/zero", join(root, "procedures/zero.md"));
    execFileSync("mkfifo", [join(root, "procedures/pipe.md")]);
    mkdirSync(join(root, "procedures/named.md"));
    linkSync(join(outside, "linked.md"), join(root, "procedures/linked.md"));
    expect((await procedures.list()).map(({ id }) => id)).toEqual([
      "procedure:deploy",
      "procedure:linked",
      "skill:keep.md",
    ]);
    expect((await procedures.stamp()).written).toHaveLength(3);
    expect(readFileSync(join(outside, "linked.md"), "utf8")).toBe("Linked.\n");
  });

  it("P18: are not written where a link has taken the place of a file or its folder", async () => {
    const outside = vault({ "deploy.md": "Deploy.\n" });
    const { root, procedures } = proceduresOf({ "procedures/team/deploy.md": "Deploy.\n" });
    await procedures.list();
    fs.rmSync(join(root, "procedures/team"), { recursive: true });
    const stamping = procedures.stamp();
    symlinkSync(outside, join(root, "procedures/team"));
    await stamping;
    await procedures.stamp();
    expect(readFileSync(join(outside, "deploy.md"), "utf8")).toBe("Deploy.\n");
    expect(await procedures.list()).toEqual([]);
  });
});

describe("files that were never stamped", () => {
  it("P2: are byte for byte the same after 1,000 mixed operations", async () => {
    const bodies = [
      "\uFEFF---\r\nname: a\r\n---\r\nCR LF\r\n",
      "no line end",
      "---\n{a: b}\n---\n日本語\n",
      "---\n# only\n---\n",
      "\n\n",
    ];
    const files = Object.fromEntries(bodies.map((body, i) => [`procedures/p${i}.md`, body]));
    const bytes = Buffer.from([0x23, 0x20, 0xff, 0xfe, 0x0a]);
    const { root, engine, procedures } = proceduresOf({ ...files, "procedures/stamped.md": "Stamped.\n" });
    writeFileSync(join(root, "procedures/latin.md"), bytes);
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let step = 0; step < 1_000; step++) {
      const id = `procedure:p${random(bodies.length)}`;
      switch (random(6)) {
        case 0:
          await procedures.load(id);
          break;
        case 1:
          await procedures.report(id, { success: random(2) === 0 });
          break;
        case 2:
          await procedures.list();
          break;
        case 3:
          if (random(10) === 0) await procedures.stamp(["procedure:stamped"]);
          break;
        case 4:
          await procedures.migrate({ dryRun: true });
          break;
        default: {
          const { episode } = await procedures.search({
            text: `name line ${random(9)} 日本語`,
            budget: 1 + random(20),
          });
          if (episode !== "") await engine.report(episode, { reward: random(2) === 0 });
        }
      }
    }
    for (const [path, text] of Object.entries(files)) expect(readFileSync(join(root, path), "utf8")).toBe(text);
    expect(readFileSync(join(root, "procedures/latin.md"))).toEqual(bytes);
    expect((await procedures.stamp(["procedure:latin"])).skipped).toEqual([
      { id: "procedure:latin", reason: "The file is not UTF-8." },
    ]);
  });
});
