import { setTimeout } from "node:timers/promises";
import { type Browser, type Page, chromium as playwright } from "playwright-core";
import { afterAll, onTestFinished } from "vitest";

/** Starts a real Chromium for a test file, which closes it at its end; undefined where none can run. */
export async function startBrowser(): Promise<Browser | undefined> {
  try {
    const { default: chromium } = await import("@sparticuz/chromium");
    // The pages have no WebGL, and drawing them by an emulated graphics card took two thirds of the tests' processor time.
    chromium.setGraphicsMode = false;
    // With all pages in one process, closing one ends the browser.
    const args = chromium.args.filter((arg) => arg !== "--single-process" && arg !== "--no-zygote");
    const executablePath = await chromium.executablePath();
    for (;;) {
      try {
        const browser = await playwright.launch({ executablePath, args });
        afterAll(() => browser.close());
        return browser;
      } catch (error) {
        // Another test file is unpacking the browser.
        if ((error as NodeJS.ErrnoException).code !== "ETXTBSY") throw error;
        await setTimeout(100);
      }
    }
  } catch {
    return undefined;
  }
}

/** Acts that a page must not do. */
export interface Watched {
  /** Scripts of others that ran, violations of the content security policy, requests to other servers, and errors. */
  readonly faults: string[];
}

/** A page whose faults are noted. */
export async function watchedPage(
  browser: Browser,
  options: Parameters<Browser["newPage"]>[0] = {},
): Promise<{ page: Page } & Watched> {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(20_000);
  const faults: string[] = [];
  page.on("dialog", (dialog) => {
    faults.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("pageerror", (error) => faults.push(`error ${error.message}`));
  page.on("request", (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (protocol.startsWith("http") && hostname !== "127.0.0.1") faults.push(`request ${request.url()}`);
  });
  await page.exposeFunction("fault", (fault: string) => faults.push(fault));
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", ({ violatedDirective }) => {
      (globalThis as unknown as { fault(text: string): void }).fault(`policy ${violatedDirective}`);
    });
  });
  return { page, faults };
}

/** A page of one test, which is closed at its end. */
export async function testPage(...of: Parameters<typeof watchedPage>): ReturnType<typeof watchedPage> {
  const watched = await watchedPage(...of);
  onTestFinished(() => watched.page.close());
  return watched;
}
