// Makes requests.jsonl and candidates.jsonl: every skill runs on every request whose input it takes, and the suite's own expected result
// decides. How to run it: README.md.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { allCases } from "./cases.mjs";
import { SKILLS } from "./skills.mjs";

process.env.TZ = "America/Los_Angeles"; // the time zone that the suites of dates were written in
const PER_TASK = 130;
const TEXT = 220;
const SECONDS_PER_CASE = 10;

const hash = (text) => createHash("sha256").update(text).digest("hex");

/** The cases of the set: of each task, those with the smallest hashes. */
async function chosenCases() {
  const cases = await allCases();
  const byTask = Map.groupBy(cases, ({ category }) => category.split("-")[0]);
  return [...byTask.values()].flatMap((own) =>
    own
      .map((one) => ({ ...one, hash: hash(`${one.category}\n${one.text}`) }))
      .sort((a, b) => (a.hash < b.hash ? -1 : 1))
      .slice(0, PER_TASK),
  );
}

if (isMainThread) await main();
else await work();

/** A thread: one skill on the cases from a place on. It posts 1 or 0 for each. */
async function work() {
  console.log = console.warn = console.error = () => {};
  const cases = await chosenCases();
  const skill = SKILLS[workerData.skill];
  const run = await skill.make();
  const RealDate = Date;
  for (let place = workerData.from; place < cases.length; place++) {
    const { takes, input, right } = cases[place];
    let success = false;
    if (takes === skill.takes) {
      // Libraries without an argument for the present time read it from the clock.
      if (takes === "date") {
        globalThis.Date = class extends RealDate {
          constructor(...given) {
            super(...(given.length > 0 ? given : [input.now]));
          }
          static now() {
            return input.now.getTime();
          }
        };
      }
      let value;
      try {
        value = await run(structuredClone(input));
      } catch (error) {
        value = error instanceof Error ? error : new Error(String(error));
      }
      globalThis.Date = RealDate;
      success = right(value);
    }
    parentPort.postMessage(success ? 1 : 0);
  }
  process.exit();
}

/** Outcomes of a skill. A case that takes too long, or ends the thread, failed. */
async function outcomesOf(skill, count) {
  const outcomes = [];
  while (outcomes.length < count) {
    await new Promise((resolve) => {
      const thread = new Worker(new URL(import.meta.url), { workerData: { skill, from: outcomes.length }, stdout: true, stderr: true });
      let timer;
      const watch = (seconds) => {
        clearTimeout(timer);
        timer = setTimeout(() => thread.terminate(), seconds * 1000);
      };
      watch(60);
      thread.on("message", (outcome) => {
        outcomes.push(outcome);
        watch(SECONDS_PER_CASE);
      });
      thread.on("error", (error) => console.error(SKILLS[skill].text, "·", String(error).slice(0, 200)));
      thread.on("exit", () => {
        clearTimeout(timer);
        if (outcomes.length < count) {
          console.error(`${SKILLS[skill].text}: case ${outcomes.length} ended the thread`);
          outcomes.push(0);
        }
        resolve();
      });
    });
  }
  return outcomes;
}

/** Facts of a package by its own package.json. */
function describe({ package: name, text }) {
  const own = () => JSON.parse(readFileSync(new URL(`./node_modules/${name}/package.json`, import.meta.url), "utf8"));
  const builtIn = ["JSON.parse", "Intl.Segmenter", "Array.from", "String.split", "Date", "vm.Script"].includes(name);
  const { description, version } = builtIn ? {} : own();
  return { text: description ? `${text}. ${description}` : `${text}.`, version: version ?? `Node ${process.version}` };
}

/** TF-IDF cosine of all pairs, in percent: words of letters and digits, idf = ln((1 + n) / (1 + df)) + 1. */
function similarities(requests, skills) {
  const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const documents = [...requests, ...skills].map((text) => {
    const counts = new Map();
    for (const word of words(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
    return counts;
  });
  const frequency = new Map();
  for (const counts of documents) for (const word of counts.keys()) frequency.set(word, (frequency.get(word) ?? 0) + 1);
  const vectors = documents.map((counts) => {
    const weights = [...counts].map(([word, count]) => [word, count * (Math.log((1 + documents.length) / (1 + frequency.get(word))) + 1)]);
    const norm = Math.hypot(...weights.map(([, weight]) => weight));
    return new Map(weights.map(([word, weight]) => [word, weight / norm]));
  });
  const skillVectors = vectors.slice(requests.length);
  return vectors.slice(0, requests.length).map((request) =>
    skillVectors.map((skill) => {
      let cosine = 0;
      for (const [word, weight] of skill) cosine += weight * (request.get(word) ?? 0);
      return Math.round(100 * cosine);
    }),
  );
}

async function main() {
  const cases = await chosenCases();
  const skills = SKILLS.map((skill, place) => ({ id: `s${String(place + 1).padStart(3, "0")}`, ...skill, ...describe(skill) }));
  const columns = [];
  for (const place of skills.keys()) columns.push(await outcomesOf(place, cases.length));
  const texts = cases.map(({ text }) => text.replace(/\s+/g, " ").trim().toWellFormed());
  const shown = texts.map((text) => [...text].slice(0, TEXT).join(""));
  const cosines = similarities(texts, skills.map(({ text }) => text));
  const requests = cases.map(({ category, hash: id }, place) => ({
    id: id.slice(0, 8),
    group: category,
    text: shown[place],
    outcomes: columns.map((column) => column[place]).join(""),
    similarities: cosines[place],
  }));
  const write = (file, rows) => {
    const text = `${rows.map((row) => JSON.stringify(row)).join("\n")}\n`;
    writeFileSync(new URL(file, import.meta.url), text);
    console.log(`- \`${file}\` ${Buffer.byteLength(text)} bytes sha256 \`${hash(text)}\``);
  };
  write("requests.jsonl", requests);
  write("candidates.jsonl", skills.map(({ id, text, package: name, version }) => ({ id, text, package: name, version })));
  for (const [category, own] of Map.groupBy(cases, ({ category }) => category)) {
    const rates = skills.flatMap(({ takes, text }, column) => {
      if (takes !== own[0].takes) return [];
      const right = cases.reduce((sum, one, place) => sum + (one.category === category ? columns[column][place] : 0), 0);
      return { text, rate: right / own.length };
    });
    console.log(`${category}: ${own.length}; ${rates.sort((a, b) => b.rate - a.rate).map(({ text, rate }) => `${rate.toFixed(2)} ${text.slice(0, 70)}`).join(" | ")}`);
  }
}
