import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, type Watched, watchedPage } from "./support/browser.js";
import { PAGES, type PageName, servers } from "./support/dashboards.js";
import { ledgerFile, unjudgedLedger } from "./support/ledgers.js";

const browser = await startBrowser();
const { serve } = servers();

/** Ledgers in each state of learning. */
const LEDGERS = {
  empty: () => ledgerFile({ runs: 0 }),
  cold: () => ledgerFile({ runs: 4 }),
  unjudged: () => unjudgedLedger(60),
  learning: () => ledgerFile({ runs: 150 }, { holdout: 0.3 }),
} as const;
type Learning = keyof typeof LEDGERS;

/** The question whose answer a page shows. */
const QUESTIONS: Readonly<Record<PageName, string>> = {
  overview: "status",
  memories: "memories",
  memory: "memory",
  runs: "runs",
  run: "run",
  health: "doctor",
};

/** Parts of answers about a ledger that is too long to be read whole. */
const PARTIAL: Readonly<Record<string, (data: Record<string, object>) => object>> = {
  status: (data) => ({ ...data, curve: { ...data.curve, sampled: true } }),
  memories: (data) => ({ ...data, of: 100_000, sample: 5_000, unread: 7, next: "[]" }),
  runs: (data) => ({ ...data, next: 7 }),
  storage: (data) => ({ ...data, verified: false }),
};

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDE = { width: 1180, height: 800 };
/** The narrowest phone, and a wide window at a zoom of 200 %. */
const NARROW = [
  { width: 320, height: 640 },
  { width: WIDE.width / 2, height: WIDE.height / 2 },
];

/** Rows of a table that a snapshot keeps, its head included. */
const ROWS = 4;

/** Drops the later rows of tables: a snapshot is of words and structure, and of no number. */
function shortened(snapshot: string): string {
  let rows = 0;
  let dropped: number | undefined;
  return snapshot
    .split("\n")
    .filter((line) => {
      const depth = line.search(/\S/);
      if (dropped !== undefined && depth > dropped) return false;
      dropped = undefined;
      if (/- table/.test(line)) rows = 0;
      if (!/- row /.test(line)) return true;
      rows += 1;
      if (rows > ROWS) dropped = depth;
      return rows <= ROWS;
    })
    .join("\n");
}

// Without a Chromium no test is registered.
if (browser) {
  const urls = {} as Record<Learning, string>;
  const learned = new Map<PageName, string>();
  let view: { page: Page } & Watched;

  beforeAll(async () => {
    for (const state of Object.keys(LEDGERS) as Learning[]) {
      urls[state] = (await serve(await LEDGERS[state]())).url;
    }
    view = await watchedPage(browser, { viewport: WIDE });
    await view.page.clock.install();
    await view.page.addInitScript({ content: AXE });
    // The browser keeps the token of each dashboard.
    for (const url of Object.values(urls)) {
      await view.page.goto(url);
      await view.page.locator("main .card").first().waitFor();
    }
  });

  afterEach(() => view.page.unrouteAll({ behavior: "ignoreErrors" }));

  const visit = async (state: Learning, name: PageName): Promise<void> => {
    const { page } = view;
    const refs: Partial<Record<PageName, string>> = {
      memory: state === "unjudged" ? "&ref=a" : "&ref=d4",
      run: "&ref=run-1",
    };
    await page.goto(`${urls[state].split("#")[0]}?page=${name}${refs[name] ?? ""}`);
  };

  /** Waits for the page's data, and checks all that holds in each state. */
  const expectSound = async (schemes: readonly ("light" | "dark")[] = ["light"]): Promise<string> => {
    const { page, faults } = view;
    await page.locator("main .card, main .skeleton").first().waitFor();
    await page.getByText("Comparing the ledger").waitFor({ state: "hidden" });
    for (const size of NARROW) {
      await page.setViewportSize(size);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    }
    await page.setViewportSize(WIDE);
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme });
      const violations = await page.evaluate(async () => {
        const { axe } = globalThis as unknown as {
          axe: {
            run(options: object): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>;
          };
        };
        // The nodes of other results would be described as well.
        return (await axe.run({ resultTypes: ["violations"] })).violations.map(
          ({ id, impact, nodes }) => `${impact} ${id}: ${nodes[0]?.html}`,
        );
      });
      expect(
        violations.filter((text) => /^(serious|critical)/.test(text)),
        colorScheme,
      ).toEqual([]);
    }
    expect(faults).toEqual([]);
    await page.emulateMedia({ colorScheme: "light" });
    return shortened(await page.locator("main").ariaSnapshot())
      .replaceAll(/[^\s"]*ledger\.db/g, "<ledger>")
      .replaceAll(/[+−]?\d[\d.,]*/g, "#");
  };

  describe("every page in every state", () => {
    for (const name of PAGES) {
      it.each(Object.keys(LEDGERS) as Learning[])(`${name} of a ledger that is %s`, async (state) => {
        await visit(state, name);
        const shown = await expectSound(state === "learning" ? ["light", "dark"] : ["light"]);
        expect(shown).toMatchSnapshot();
        if (state === "learning") learned.set(name, shown);
      });

      it(`${name} while it loads, when it fails, and in part`, async () => {
        const { page } = view;
        const api = new RegExp(`/api/(${QUESTIONS[name]}|storage)\\?`);
        const held = Promise.withResolvers<void>();
        const error = { code: "STORE_BUSY", message: "Another process held the lock." };
        await visit("learning", name);
        await page.route(api, async (route) => {
          await held.promise;
          await route.fulfill({ status: 503, json: { error } });
        });
        await page.reload();
        await page.clock.runFor(1_000);
        await page.getByRole("status", { name: "Loading" }).waitFor();
        expect(await expectSound()).toMatchSnapshot("loading");
        held.resolve();
        await page.getByRole("alert").getByText(error.message).waitFor();
        expect(await expectSound()).toMatchSnapshot("failed");
        await page.unroute(api);
        await page.route(api, async (route) => {
          const response = await route.fetch();
          const { data } = (await response.json()) as { data: Record<string, object> };
          const question = new URL(route.request().url()).pathname.split("/").at(-1) as string;
          await route.fulfill({ json: { data: PARTIAL[question]?.(data) ?? data } });
        });
        await page.reload();
        await page.locator("main .card:not(.problem)").first().waitFor();
        expect(await expectSound()).toMatchSnapshot("in part");
      });

      it(`${name} when the server is gone`, async () => {
        const { page } = view;
        await visit("learning", name);
        await page.locator("main .card").first().waitFor();
        await page.route(/\/api\/version\?/, (route) => route.abort());
        await page.clock.fastForward(60_000);
        await page.getByRole("alert").getByText("The server does not answer").waitFor();
        expect(await expectSound()).toBe(learned.get(name));
      });
    }
  });
}
