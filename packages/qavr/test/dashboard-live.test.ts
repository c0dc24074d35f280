import { describe, expect, it } from "vitest";
import { startBrowser, testPage } from "./support/browser.js";
import { CONTENT, servers } from "./support/dashboards.js";
import { ledgerFile, newLedger, runApp } from "./support/ledgers.js";

const browser = await startBrowser();
const { serve } = servers();

// Without a Chromium no test is registered.
if (browser) {
  describe("an open page of the dashboard", () => {
    it("asks for one namespace alone, after another one was chosen during a slow answer", async () => {
      const { path, engine } = newLedger();
      for (const namespace of ["a", "b"]) await runApp(engine, { runs: 1, namespace });
      await engine.close();
      const { page } = await testPage(browser);
      let answer = (): void => {};
      const held = new Promise<void>((resolve) => (answer = resolve));
      await page.route("**/api/version?namespace=a", (route) => held.then(() => route.continue()));
      const asked = page.waitForRequest(/version\?namespace=a/);
      await page.goto(`${(await serve(path)).url.replace("#", "?namespace=a#")}`);
      await asked;
      await page.getByLabel("namespace").selectOption("b");
      answer();
      const later: string[] = [];
      page.on("request", (request) => later.push(new URL(request.url()).search));
      for (let i = 0; i < 2; i++) await page.waitForResponse(/version\?namespace=b/);
      expect(new Set(later)).toEqual(new Set(["?namespace=b"]));
    });

    it("keeps the keyboard's focus on the run where it was, while new runs come in", async () => {
      const { path, engine } = newLedger();
      await runApp(engine, { runs: 10 });
      const { page } = await testPage(browser);
      await page.goto((await serve(path)).url);
      await page.getByRole("link", { name: "Runs" }).click();
      const runs = page.locator("td:nth-child(2) a");
      const known = await runs.nth(3).textContent();
      await runs.nth(3).focus();
      await runApp(engine, { runs: 1 });
      await runs
        .nth(4)
        .getByText(known as string)
        .waitFor();
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(known);
      await engine.close();
    });

    it("shows the rows again from which the reader went, after a step back", async () => {
      const { page } = await testPage(browser, { viewport: { width: 1000, height: 600 } });
      await page.goto((await serve(await ledgerFile({ runs: 60 }))).url);
      await page.getByRole("link", { name: "Runs" }).click();
      await page.locator("td:nth-child(2) a").nth(40).click();
      await page.getByText(CONTENT.run).first().waitFor();
      await page.goBack();
      await page.getByText(CONTENT.runs).waitFor();
      await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(600);
    });
  });

  describe("a page of the dashboard", () => {
    it("stays where it is when it shows all rows", async () => {
      const { page } = await testPage(browser);
      const { url } = await serve(await ledgerFile({ runs: 60, memories: 40 }));
      await page.goto(url);
      await page.getByRole("link", { name: "Memories", exact: true }).click();
      await page.getByRole("link", { name: /^All \d+ rows$/ }).click();
      await page.locator("tbody tr").nth(25).waitFor();
      expect(await page.evaluate(() => scrollY)).toBeGreaterThan(0);
    });

    it("breaks long ids into lines", async () => {
      const { path, engine } = newLedger();
      const id = "0123456789abcdef".repeat(8);
      const { episode } = await engine.rank({ candidates: [{ id, similarity: 1 }], topK: 1 });
      await engine.end(episode, { reward: false, tier: "verified", harmful: [id], used: [id] });
      await engine.close();
      const { page } = await testPage(browser, { viewport: { width: 360, height: 640 } });
      const { url } = await serve(path);
      await page.goto(url);
      for (const query of [`page=run&ref=${episode}`, `page=memory&ref=${id}`]) {
        await page.goto(`${url.split("#")[0]}?${query}`);
        await page.locator("main table").first().waitFor();
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), query).toBe(0);
      }
    });

    it("shows no character that turns the direction of the text after it", async () => {
      const { path, engine } = newLedger();
      const id = "turned \u202e around";
      let run = "";
      for (let i = 0; i < 40; i++) {
        const candidates = [{ id, similarity: 1 }];
        ({ episode: run } = await engine.rank({ candidates, topK: 1 }));
        await engine.end(run, { reward: false, tier: "verified", harmful: [id], used: [id], note: id, source: id });
      }
      await engine.close();
      const { page } = await testPage(browser);
      const { url } = await serve(path);
      await page.goto(url);
      const queries = [`run&ref=${run}`, `memory&ref=${encodeURIComponent(id)}`, "health"];
      for (const query of queries) {
        await page.goto(`${url.split("#")[0]}?page=${query}`);
        await page.locator("main table").first().waitFor();
        // A cell of a table ends what is turned in it.
        const texts = await page.locator("main :is(h2, p, li)").allInnerTexts();
        expect(texts.join("\n"), query).not.toContain("\u202e");
      }
    });
  });
}
