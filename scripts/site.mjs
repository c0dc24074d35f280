// The documentation as a site: `pnpm site [folder]`, by default `site/`. It needs no server and loads nothing from elsewhere.
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import GithubSlugger from "github-slugger";
import { Marked } from "marked";
import MiniSearch from "minisearch";
import { apiPages } from "./site/api.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const out = process.argv[2] ?? join(ROOT, "site");
const ASSETS = ["site.css", "search.js"];

/** Sections of the navigation, in order, and the pages that belong to each. */
const SECTIONS = [
  ["Start", ["README.md", "docs/tutorials/*.md"]],
  ["How to", ["docs/how-to/*.md"]],
  ["Explanation", ["DESIGN.md", "docs/explanation/*.md"]],
  ["Reference", ["docs/reference/*.md"]],
  ["API", ["docs/api/*.md"]],
  ["Packages", ["packages/*/README.md", "examples/*/README.md"]],
  ["Benchmarks", ["docs/benchmarks/*.md", "packages/*/data/**/*.md"]],
  ["Decisions", ["docs/decisions/*.md"]],
  ["Project", ["CONTRIBUTING.md", "SECURITY.md"]],
];

const manifests = globSync("packages/*/package.json", { cwd: ROOT })
  .sort()
  .map((path) => ({
    folder: posix.dirname(path.replaceAll("\\", "/")),
    manifest: JSON.parse(readFileSync(join(ROOT, path), "utf8")),
  }))
  .filter(({ manifest }) => !manifest.private);
const generated = apiPages(ROOT, manifests);
const pages = SECTIONS.flatMap(([section, patterns]) => {
  const own = patterns.flatMap((pattern) => globSync(pattern, { cwd: ROOT }).sort());
  const made = section === "API" ? [...generated.keys()] : [];
  return [...own, ...made].map((path) => readPage(path.replaceAll("\\", "/"), section));
});
const byPath = new Map(pages.map((page) => [page.path, page]));

/** A page without the comments that only its checks read. */
function readPage(path, section) {
  const text = generated.get(path) ?? readFileSync(join(ROOT, path), "utf8");
  const markdown = text.replace(/<!--[\s\S]*?-->\n*/g, "");
  const title = /^# (.+)$/m.exec(markdown)?.[1].replaceAll("`", "") ?? path;
  return { path, section, markdown, title, href: hrefOf(path), sections: [] };
}

function hrefOf(path) {
  return path.replace(/README\.md$/, "index.html").replace(/\.md$/, ".html");
}

const copied = new Set();

/** Target of a link of a page on the site; undefined for sources, which are not on it. Tests check the links of pages. */
function targetOf(page, href) {
  if (/^[a-z]+:/.test(href)) return href;
  const [to, anchor] = href.split("#");
  const path = to === "" ? page.path : posix.normalize(posix.join(posix.dirname(page.path), decodeURI(to)));
  const target = byPath.get(path) ?? byPath.get(`${path}/README.md`);
  const up = posix.relative(posix.dirname(page.href), ".") || ".";
  if (target) {
    return `${up}/${target.href}${anchor === undefined ? "" : `#${anchor}`}`;
  }
  const file = join(ROOT, path);
  if (!/\.(svg|png|webp|json)$/.test(path) || !existsSync(file) || statSync(file).isDirectory()) return undefined;
  copied.add(path);
  return `${up}/${path}`;
}

const escaped = (text) => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);

function render(page) {
  const slugger = new GithubSlugger();
  let current = { title: page.title, at: page.href, text: "" };
  page.sections = [current];
  const marked = new Marked({
    walkTokens(token) {
      if (token.type === "heading") {
        token.id = slugger.slug(token.text.replace(/[`*]|\]\([^)]*\)|\[/g, ""));
        if (token.depth === 1) return;
        current = { title: token.text.replaceAll("`", ""), at: `${page.href}#${token.id}`, text: "" };
        page.sections.push(current);
      } else if (["paragraph", "code", "table", "list_item"].includes(token.type)) current.text += ` ${token.raw}`;
    },
    renderer: {
      heading({ tokens, depth, id }) {
        return `<h${depth} id="${escaped(id)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const target = targetOf(page, href);
        return target === undefined ? text : `<a href="${escaped(target)}">${text}</a>`;
      },
      image({ href, text }) {
        return `<img src="${escaped(targetOf(page, href) ?? "")}" alt="${escaped(text)}">`;
      },
      table(token) {
        const row = (cells, tag) =>
          `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join("")}</tr>`;
        const body = token.rows.map((cells) => row(cells, "td")).join("\n");
        return `<div class="table"><table><thead>${row(token.header, "th")}</thead><tbody>${body}</tbody></table></div>\n`;
      },
    },
  });
  return marked.parse(page.markdown);
}

function navigation(page, up) {
  return SECTIONS.map(([section]) => {
    const items = pages
      .filter((other) => other.section === section)
      .map((other) => {
        const current = other === page ? ' aria-current="page"' : "";
        return `<li><a href="${up}/${escaped(other.href)}"${current}>${escaped(other.title)}</a></li>`;
      });
    const open = page.section === section || section === "How to" ? " open" : "";
    return `<details${open}><summary>${section}</summary><ul>${items.join("")}</ul></details>`;
  }).join("\n");
}

function documentOf(page, content) {
  const up = posix.relative(posix.dirname(page.href), ".") || ".";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(page.title)}${page.title === "qavr" ? "" : " · qavr"}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${up}/site.css">
</head>
<body>
<nav class="side" aria-label="Pages">
<a class="home" href="${up}/index.html">qavr</a>
<div id="search"><input type="search" aria-label="Search" placeholder="Search (press /)"><ol hidden></ol></div>
${navigation(page, up)}
</nav>
<main>
${content}
</main>
<script>window.SEARCH_ROOT = "${up}/";</script>
<script src="${up}/minisearch.js"></script>
<script src="${up}/search-index.js"></script>
<script src="${up}/search.js"></script>
</body>
</html>
`;
}

function write(path, content) {
  const file = join(out, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

/** The first sentence after the title. */
function summaryOf({ markdown }) {
  const [, first = ""] = /^# .+\n+((?:[^\n#`|>-].*\n?)+)/m.exec(markdown) ?? [];
  const plain = first.replace(/\n/g, " ").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  return (/^.*?\.(?= |$)/.exec(plain)?.[0] ?? plain).trim().replace(/:$/, ".");
}

rmSync(out, { recursive: true, force: true });
const html = pages.map((page) => [page, render(page)]);
for (const [page, content] of html) {
  write(page.href, documentOf(page, content));
}
for (const path of copied) write(path, readFileSync(join(ROOT, path)));
for (const name of ASSETS) copyFileSync(join(ROOT, "scripts/site", name), join(out, name));
copyFileSync(
  join(dirname(createRequire(import.meta.url).resolve("minisearch")), "../umd/index.js"),
  join(out, "minisearch.js"),
);
const search = new MiniSearch({ fields: ["title", "text"], storeFields: ["title", "page", "at"] });
search.addAll(
  pages.flatMap((page, i) => page.sections.map((section, j) => ({ ...section, id: `${i}.${j}`, page: page.title }))),
);
write("search-index.js", `window.SEARCH_INDEX = ${JSON.stringify(search).replaceAll("<", "\\u003c")};\n`);
const lists = SECTIONS.map(([section]) => {
  const items = pages.filter((page) => page.section === section);
  return `## ${section}\n\n${items.map((page) => `- [${page.title}](${page.path})${summaryOf(page) && `: ${summaryOf(page)}`}`).join("\n")}\n`;
});
write("llms.txt", `# qavr\n\n> ${summaryOf(byPath.get("README.md"))}\n\n${lists.join("\n")}`);
const whole = pages.filter(({ section }) => !["Benchmarks", "Decisions", "Project"].includes(section));
write("llms-full.txt", whole.map(({ path, markdown }) => `<!-- ${path} -->\n\n${markdown}`).join("\n\n"));
for (const { path, markdown } of pages) write(path, markdown);
process.stdout.write(`${pages.length} pages in ${out}\n`);
