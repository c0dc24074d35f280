// `pnpm --filter @qavr/example-studio browser`: drives Studio in a real browser, on the real `mastra dev`, and says what it saw. Fails at the first thing that is
// not as it should be. --screenshot keeps a picture of the end, studio.png.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import chromium from "@sparticuz/chromium";
import { type Page, chromium as playwright } from "playwright-core";
import { startDevServer } from "./dev-server.ts";

const ASKED = "service rollout with docker please";

const folder = await mkdtemp(join(tmpdir(), "qavr-studio-"));
const server = await startDevServer(folder);
const browser = await playwright.launch({ executablePath: await chromium.executablePath(), args: chromium.args });
try {
  console.log("mastra dev bundles the project and serves Studio");
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  // Studio asks npm for newer versions of itself.
  await page.route(
    ({ hostname }) => hostname !== "localhost",
    (route) => route.abort(),
  );
  page.setDefaultTimeout(30_000);
  const { waitFor, chat } = studio(page, server.url);

  await chat("service rollout with docker compose up, the old way", "Noted.");
  await chat("service rollout by helm upgrade, the new way", "Noted.");
  await chat(ASKED, "the rollout failed");
  console.log("chat: told two ways, the agent fails with the one that resembles the question more");
  await chat(ASKED, "Rolled out with helm.");
  console.log("chat: asked again on a new thread, it takes the other one");

  await page.reload();
  await waitFor(ASKED);
  await waitFor("Rolled out with helm.");
  console.log("thread: question and answer are there after a reload");

  await page.getByText("Memory", { exact: true }).first().click();
  const search = page.getByPlaceholder("Search memory...");
  await search.fill("the new way by helm");
  await search.press("Enter");
  await waitFor("service rollout by helm upgrade, the new way");
  console.log("memory: the search finds the note of another thread");
  if (process.argv.includes("--screenshot")) await page.screenshot({ path: "studio.png" });
} finally {
  await browser.close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

/** A user's steps in Studio. */
function studio(
  page: Page,
  url: string,
): {
  waitFor(text: string | RegExp): Promise<void>;
  chat(text: string, answer: string): Promise<void>;
} {
  const waitFor = (text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();
  return {
    waitFor,
    /** Says something on a new thread and waits for the answer. */
    async chat(text, answer) {
      await page.goto(`${url}/agents/operator/threads/new`);
      const box = page.getByPlaceholder("Enter your message...");
      await box.fill(text);
      await box.press("Enter");
      await waitFor(answer);
    },
  };
}
