import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLessons } from "@qavr/markdown";

const root = mkdtempSync(join(tmpdir(), "qavr-lessons-"));
const lessons = openLessons(root);
const project = "shop";
await lessons.capture({
  project,
  title: "Cache",
  body: "When a deploy of the shop fails, clear the cache.",
  confidence: 0.9,
});
await lessons.capture({
  project,
  title: "Permissions",
  body: "When a deploy fails, fix the permissions of the folder.",
});
const file = join(root, project, "90-lessons.md");
const written = readFileSync(file, "utf8");

/** A run of an agent: it does what the first lesson says. Only the permissions help. */
async function run(): Promise<string> {
  const { lessons: found, episode } = await lessons.search({ text: "the deploy of the shop fails", rankBy: "learned" });
  const [first] = found;
  const helped = first?.title === "Permissions";
  const ids = first ? [first.id] : [];
  await lessons.engine.report(episode, { reward: helped, [helped ? "helpful" : "harmful"]: ids });
  return `${first?.title} ${helped ? "helped" : "did not help"}`;
}

for (let i = 1; i <= 4; i++) console.log(`${i}. ${await run()}`);
for (const rankBy of ["bm25", "reinforcements", "confidence", "learned"] as const) {
  const { lessons: found } = await lessons.search({ text: "the deploy of the shop fails", rankBy });
  console.log(`${rankBy}: ${found.map(({ title }) => title).join(", ")}`);
}
console.log(`the file is as it was written: ${readFileSync(file, "utf8") === written}`);
await lessons.close();
rmSync(root, { recursive: true });
