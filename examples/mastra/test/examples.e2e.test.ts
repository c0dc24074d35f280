import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const folder = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(`${folder}README.md`, "utf8");

/** The output of a program by its page: the text block below its command. */
function shown(name: string): string | undefined {
  return new RegExp(
    `pnpm exec node examples/mastra/${name}/main\\.ts\\n\`\`\`\\n\\n\`\`\`txt\\n(.*?)\\n\`\`\``,
    "s",
  ).exec(page)?.[1];
}

describe("the example", () => {
  it.each(["support-agent", "scorer-rewards", "ranked-skills", "suspend-resume"])(
    "%s prints what the page shows",
    async (name) => {
      const child = spawn(process.execPath, [`${folder}${name}/main.ts`], { stdio: ["ignore", "pipe", "inherit"] });
      expect((await text(child.stdout)).trimEnd()).toBe(shown(name));
    },
  );
});
