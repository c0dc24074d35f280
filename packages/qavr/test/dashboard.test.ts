import { readdirSync, readFileSync, rmSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { oar } from "@qavr/core";
import { sqliteStore } from "@qavr/sqlite";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startBrowser, testPage, type Watched, watchedPage } from "./support/browser.js";
import { ASSETS, CONTENT, servers } from "./support/dashboards.js";
import { PAYLOADS } from "./support/hostile.js";
import { appEngine, ledgerFile, newLedger, newPath, oneRun, runApp } from "./support/ledgers.js";
import { dataOf } from "./support/run.js";

const browser = await startBrowser();
const { serve } = servers();

it("weighs at most 150 KB, compressed", () => {
  const bytes = readdirSync(ASSETS)
    .filter((name) => !/\.(map|txt)$/.test(name))
    .map((name) => gzipSync(readFileSync(new URL(name, ASSETS))).length);
  expect(bytes.length).toBe(4);
  expect(bytes.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(150 * 1024);
});

it("comes with the license of the library inside it", () => {
  const license = readFileSync(new URL("../node_modules/preact/LICENSE", import.meta.url), "utf8");
  expect(readFileSync(new URL("app.js.LICENSE.txt", ASSETS), "utf8")).toBe(license);
});

// Without a Chromium no test is registered.
if (browser) {
  let url: string;
  let view: { page: Page } & Watched;
  let run: string;

  beforeAll(async () => {
    const ledger = await ledgerFile({ runs: 150 }, { holdout: 0.3 });
    ({ url } = await serve(ledger));
    run = ((await dataOf("runs", "-s", ledger)) as { runs: { episode: string }[] }).runs[0]?.episode as string;
    view = await watchedPage(browser, { viewport: { width: 1180, height: 800 } });
    await view.page.goto(url);
    await view.page.getByText(CONTENT.overview).waitFor();
  });

  const addressOf = (page: string): string => {
    const refs: Record<string, string> = { memory: "&ref=d4", run: `&ref=${run}` };
    return `${url.split("#")[0]}?page=${page}${refs[page] ?? ""}`;
  };

  describe("the dashboard", () => {
    it("says what is missing on an empty ledger, with a command", async () => {
      const path = newPath();
      await appEngine(sqliteStore(path)).flush();
      const { page, faults } = await testPage(browser);
      const { url: empty } = await serve(path);
      await page.goto(empty);
      await page.getByText("No run is recorded yet").waitFor();
      await page.getByText("npx qavr demo").waitFor();
      for (const [name, text] of [
        ["memories", "No memory has evidence yet"],
        ["runs", "The ledger has no run"],
        ["health", "Too early to say"],
      ] as const) {
        await page.goto(`${empty.split("#")[0]}?page=${name}`);
        await page.getByText(text).waitFor();
      }
      expect(faults).toEqual([]);
    });

    it("says of a memory how many of its runs are shown, where that is not all", async () => {
      const { path, engine } = newLedger();
      for (let run = 0; run < 600; run++) {
        await oneRun(engine, { candidates: [{ id: "a", similarity: 1 }], topK: 1 }, { reward: run % 2 === 0 });
      }
      await engine.close();
      const { page } = await testPage(browser);
      await page.goto((await serve(path)).url);
      await page.getByText(CONTENT.overview).waitFor();
      await page.goto(`${page.url().split("?")[0]}?page=memory&ref=a`);
      await page.getByText("The latest 500 of 600 are shown.").waitFor();
    });

    it("denies of a compacted ledger no run that it has dropped", async () => {
      const path = await ledgerFile({ runs: 60 });
      await dataOf("ledger", "compact", "--older-than", "0", "--yes", "-s", path);
      const { page } = await testPage(browser);
      const { url: compacted } = await serve(path);
      await page.goto(compacted);
      await page.getByText("60 runs have taught").waitFor();
      await page.getByText("The ledger has no judged run.").waitFor();
      await page.goto(`${compacted.split("#")[0]}?page=memory&ref=d0`);
      await page.getByText("No judged run showed it, among the 1,000 entries").waitFor();
      await page.goto(`${compacted.split("#")[0]}?page=runs`);
      await page.getByText("stays until it is compacted away").waitFor();
      await page.goto(`${compacted.split("#")[0]}?page=health`);
      await page.getByRole("heading", { name: "Too early to say" }).waitFor();
    });

    it("tells cold from unjudged, and leads from there to the findings", async () => {
      const { page } = await testPage(browser);
      await page.goto((await serve(await ledgerFile({ runs: 4 }))).url);
      await page
        .locator(".badge")
        .getByText(/^(cold|learning)$/)
        .waitFor();
      const { path, engine } = newLedger();
      await oneRun(engine, { candidates: [{ id: "a", similarity: 1 }], topK: 1 }, { reward: null });
      await engine.close();
      await page.goto((await serve(path)).url);
      await page.getByText("not learning", { exact: true }).waitFor();
      await page.getByText("What is wrong?").click();
      await page.getByRole("heading", { name: "Health" }).waitFor();
    });

    it("says of one run and its one memory what is so, in the singular", async () => {
      const { page } = await testPage(browser);
      await page.goto((await serve(await ledgerFile({ runs: 1, memories: 1 }))).url);
      await page.getByText("1 verified").waitFor();
      await page.getByText("No other has evidence yet.").waitFor();
      expect(await page.getByText("None has evidence yet.").count()).toBe(0);
      expect(await page.getByText("1 run", { exact: true }).count()).toBe(2);
      await page.getByRole("img", { name: "over 1 judged run", exact: false }).waitFor();
      await page.getByRole("link", { name: "Memories" }).first().click();
      await page.getByText("shown 1 time", { exact: true }).waitFor();
      expect(await page.getByText(/\b1 (runs|times|memories)/).count()).toBe(0);
    });

    it("names no number of memories where an application's own learner wrote", async () => {
      const { path, engine } = newLedger({ learner: { ...oar(), id: "own@1" } });
      await runApp(engine, { runs: 4 });
      await engine.close();
      const { page } = await testPage(browser);
      await page.goto((await serve(path)).url);
      await page.getByText("not known: their states cannot be read here").waitFor();
      await page.getByRole("link", { name: "Health" }).click();
      await page.getByText("Known already: 4 outcomes, 4 runs that taught.").waitFor();
    });

    it("says on its first page which contexts are still cold", async () => {
      const { path, engine } = newLedger();
      for (let run = 0; run < 104; run++) {
        const context = run < 101 ? "deploy" : "review";
        const { episode } = await engine.rank({ context, candidates: [{ id: "a", similarity: 1 }], topK: 1 });
        await engine.end(episode, { reward: run % 2 === 0, tier: "verified" });
      }
      await engine.close();
      const { page } = await testPage(browser);
      await page.goto((await serve(path)).url);
      await page.getByRole("row", { name: /^deploy .* warm$/ }).waitFor();
      await page.getByRole("row", { name: /^review .* cold$/ }).waitFor();
    });

    it("follows an application that writes", async () => {
      const { path, engine } = newLedger();
      await runApp(engine, { runs: 5 });
      const { page } = await testPage(browser);
      await page.goto((await serve(path)).url);
      const runs = page.locator(".tiles div").filter({ hasText: "runs" }).locator("dd").first();
      await page.waitForFunction(() => document.body.textContent?.includes("5 runs have taught"));
      await runApp(engine, { runs: 5 });
      await page.waitForFunction(() => document.body.textContent?.includes("10 runs have taught"));
      expect(await runs.count()).toBe(1);
      await runApp(engine, { runs: 1, namespace: "support" });
      await runApp(engine, { runs: 1 });
      await page.getByRole("option", { name: "support" }).waitFor({ state: "attached" });
      await engine.close();
    });

    it("tells memories of one id apart by their collections", async () => {
      const { path, engine } = newLedger();
      for (const collection of ["docs", "notes", "notes"]) {
        const { episode } = await engine.rank({ collection, candidates: [{ id: "a", similarity: 1 }], topK: 1 });
        await engine.end(episode, { reward: true, tier: "verified" });
      }
      await engine.close();
      const { page } = await testPage(browser);
      const { url: served } = await serve(path);
      await page.goto(served);
      await page.getByRole("listitem").filter({ hasText: "a docs" }).waitFor();
      for (const [collection, shown] of Object.entries({ docs: 1, notes: 2 })) {
        await page.goto(`${served.split("#")[0]}?page=memories`);
        await page
          .getByRole("row", { name: `a ${collection}` })
          .getByRole("link")
          .click();
        await page.getByText(`id a, collection ${collection}`).waitFor();
        await page.getByRole("row", { name: new RegExp(`^\\S+ \\S+ ${shown} `) }).waitFor();
      }
    });

    it("says that its ledger is gone, where another one has its name", async () => {
      const path = await ledgerFile({ runs: 5 });
      const { page } = await testPage(browser);
      await page.goto((await serve(path)).url);
      await page.getByText(CONTENT.overview).waitFor();
      for (const suffix of ["", "-mark"]) rmSync(path + suffix);
      await appEngine(sqliteStore(path)).close();
      await page.getByRole("alert").getByText("was deleted or replaced").waitFor();
    });

    it("asks for the address with the token where there is none, and takes the token out of the address", async () => {
      const { page } = await testPage(browser);
      await page.goto(url.split("#")[0] as string);
      await page.getByText("Open the address that npx qavr dashboard printed").waitFor();
      await page.goto(url);
      await page.getByText(CONTENT.overview).waitFor();
      expect(page.url()).not.toContain("#t=");
      await page.reload();
      await page.getByText(CONTENT.overview).waitFor();
    });

    it("is used with the keyboard alone, and its address holds what is shown", async () => {
      const { page } = view;
      await page.goto(addressOf("overview"));
      await page.getByText(CONTENT.overview).waitFor();
      await page.keyboard.press("Tab");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.getByText(CONTENT.memories).waitFor();
      await page.getByRole("searchbox").fill("Note 4");
      await page.waitForURL(/words=Note\+4/);
      await page.reload();
      await page.getByText("1 of 12 memories").waitFor();
      await page.goBack();
      await page.getByText(CONTENT.overview).waitFor();
    });

    it("goes from one namespace to the next with the arrow keys alone", async () => {
      const { path, engine } = newLedger();
      for (const [i, namespace] of ["a", "b", "c"].entries()) await runApp(engine, { runs: i + 1, namespace });
      await engine.close();
      const { page } = await testPage(browser);
      await page.goto(`${(await serve(path)).url.replace("#", "?namespace=a#")}`);
      await page.getByText("1 run has taught").waitFor();
      await page.getByLabel("namespace").focus();
      for (const runs of [2, 3]) {
        await page.keyboard.press("ArrowDown");
        await page.getByText(`${runs} runs have taught`).waitFor();
      }
    });

    it("leaves a link with Ctrl to the browser, and shows it in a tab of its own", async () => {
      const context = await browser.newContext();
      onTestFinished(() => context.close());
      const page = await context.newPage();
      await page.goto(url.replace("#", "?page=runs#"));
      const link = page.locator("td a").first();
      await link.waitFor();
      // A busy machine may not finish a tab in the background, so this click opens none.
      await page.evaluate(() => {
        addEventListener("click", (event) => {
          document.title = event.defaultPrevented ? "followed" : "left";
          event.preventDefault();
        });
      });
      await link.click({ modifiers: ["ControlOrMeta"] });
      expect(await page.title()).toBe("left");
      const tab = await context.newPage();
      await tab.goto(await link.evaluate((node) => (node as HTMLAnchorElement).href));
      await tab.getByText(CONTENT.run).first().waitFor();
    });

    it("says that words are looked for in one page of many memories, and keeps them on the next page", async () => {
      const { path, engine } = newLedger();
      for (let run = 0; run < 13; run++) {
        const candidates = Array.from({ length: 10 }, (_, i) => ({ id: `note ${run % 2} ${run}-${i}`, similarity: 1 }));
        await oneRun(engine, { candidates, topK: 10 }, { reward: true, tier: "verified" });
      }
      await engine.close();
      const { page } = await testPage(browser);
      await page.goto(`${(await serve(path)).url.replace("#", "?page=memories&words=note+1#")}`);
      await page.getByText(/^\d+ of 100 memories on this page$/).waitFor();
      await page.getByText("Next page").click();
      await page.getByText(/^\d+ of 30 memories on this page$/).waitFor();
    });

    it.each(["memories", "runs", "run"])("prints every column of the page %s in dark ink", async (name) => {
      const { page } = await testPage(browser, { viewport: { width: 718, height: 1_000 } });
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      await page.goto(`${url.replace("#", `${new URL(addressOf(name)).search}#`)}`);
      await page.locator("table").first().waitFor();
      for (const table of await page.locator(".scroll").all()) {
        expect(await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
      }
      // Light ink of a dark screen is faint on paper.
      await expect(page.evaluate(() => getComputedStyle(document.body).color)).resolves.toBe("rgb(20, 23, 28)");
    });

    it("saves a plot's numbers as CSV", async () => {
      const { page } = view;
      await page.goto(addressOf("memories"));
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByText("Save as CSV").click()]);
      const text = readFileSync(await download.path(), "utf8");
      expect(text.split("\r\n")[0]).toBe("memory,utility,evidence,shown,success of its runs,runs,votes");
      expect(text).toMatch(/^Note \d+,-?0\.\d+,/m);
    });

    it.each(["memory", "run"] as const)(
      "saves the numbers of a %s as CSV, in a form that programs read",
      async (name) => {
        const { page } = view;
        await page.goto(addressOf(name));
        await page.getByText(CONTENT[name]).first().waitFor();
        for (const button of await page.getByRole("button", { name: "Save as CSV" }).filter({ visible: true }).all()) {
          const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
          const text = readFileSync(await download.path(), "utf8");
          // The page has true minus signs, and a plus sign is quoted for spreadsheets.
          expect(text).not.toMatch(/(^|,)('\+|−)[\d.]+(,|\r)/m);
        }
      },
    );

    /** Each question of a developer, the clicks to its answer from the first page, and the answer. */
    it.each<[string, readonly string[], RegExp]>([
      ["Is it learning?", [], /150 runs have taught/],
      ["Does it help, by how much, how sure?", [], /Lift [+−]\d|Lift needs/],
      ["How much of it has an outcome?", [], /100 % with an outcome/],
      ["Which memories carry?", [], /Best memories/],
      ["Which memories hurt, and what should be removed?", ["nav >> text=Memories"], /Worst first/],
      ["Why was this ranked here?", ["nav >> text=Runs", "td a >> nth=0"], /how it adds up/],
      ["Why was that not shown?", ["nav >> text=Runs", "td a >> nth=0"], /outranked|held-out/],
      ["Who gives rewards, and do they agree?", ["nav >> text=Health"], /agrees with better evidence/],
      ["What happened in this run?", ["nav >> text=Runs", "td a >> nth=0"], /verified, by checker/],
      ["Is the store healthy?", ["nav >> text=Health"], /the whole ledger compared with its digests/],
      ["Is the loop closed, is somebody gaming it?", ["nav >> text=Health"], /Nothing found/],
    ])("answers in three clicks: %s", async (_, clicks, answer) => {
      const { page } = view;
      await page.goto(addressOf("overview"));
      await page.getByText(CONTENT.overview).waitFor();
      for (const click of clicks) await page.locator(click).click();
      await page.getByText(answer).first().waitFor();
      expect(clicks.length).toBeLessThanOrEqual(3);
    });

    it("takes 200 hostile texts in every field for text", async () => {
      const { path, engine } = newLedger({ outcomeWindow: 1e12 });
      for (const [i, payload] of PAYLOADS.entries()) {
        const namespace = i % 40 === 39 ? payload : "default";
        const candidates = [
          { id: payload, similarity: 0.5, label: payload.slice(0, 80) },
          { id: `other ${payload}`, similarity: 0.4, label: payload.slice(0, 80) },
        ];
        const request = { namespace, collection: i < 8 ? payload : "default", context: payload, aliases: [payload] };
        const { episode } = await engine.rank({ ...request, vector: [1, i], candidates, topK: 1 });
        await engine.end(
          episode,
          { reward: i % 2 === 0, tier: "verified", source: payload, note: payload, helpful: [payload] },
          { namespace },
        );
      }
      await engine.close();
      const { url: hostile } = await serve(path);
      const { page, faults } = await testPage(browser);
      await page.goto(hostile);
      await page.getByText(CONTENT.overview).waitFor();
      // As a link does it: the page is not loaded again.
      const visit = async (search: string, text: string): Promise<void> => {
        await page.evaluate((to) => {
          history.pushState(null, "", to);
          dispatchEvent(new PopStateEvent("popstate"));
        }, `?${search}`);
        await page.getByText(text).first().waitFor();
      };
      for (const order of ["worst", "best", "shown", "unsure"])
        await visit(`page=memories&order=${order}`, "Utility and exposure");
      for (const before of [401, 300, 200, 100]) await visit(`page=runs&before=${before}`, "Latest runs");
      await visit("page=health", "Ledger");
      for (const payload of PAYLOADS.slice(0, 40)) {
        const ref = encodeURIComponent(payload);
        if (payload !== PAYLOADS[39]) {
          await visit(`page=memory&ref=${ref}`, "Latest retrievals");
          await visit(`page=run&ref=${ref}`, "how it adds up");
        }
        await visit(`page=${ref}&namespace=${ref}&order=${ref}&words=${ref}`, "There is no such page.");
      }
      await visit(`page=overview&namespace=${encodeURIComponent(PAYLOADS[39] as string)}`, "run has taught");
      expect(faults).toEqual([]);
    });
  });
}
