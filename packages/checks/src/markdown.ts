import { readFileSync } from "node:fs";
import GithubSlugger from "github-slugger";
import type { Code, Html, Root } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { toString as plainText } from "mdast-util-to-string";
import { visit } from "unist-util-visit";

/** A fenced block of a page. */
export interface CodeBlock {
  /** The word after the fence, lower case; empty if there is none. */
  readonly language: string;
  readonly code: string;
  /** 1-based line of the opening fence. */
  readonly line: number;
  /** Text of the HTML comments directly above the block, in order; readers never see them. */
  readonly comments: readonly string[];
  /** The `txt` block directly below, where there is one: what the block prints. */
  readonly shownOutput: string | undefined;
}

/** A heading of a page, with the anchor that GitHub gives it. */
export interface Heading {
  readonly text: string;
  readonly depth: number;
  readonly anchor: string;
  /** The plain text up to the next heading. */
  readonly body: string;
}

/** The parts of one page that the checks read. */
export interface MarkdownPage {
  readonly blocks: readonly CodeBlock[];
  readonly headings: readonly Heading[];
  /** Code inside paragraphs, and shell blocks. */
  readonly commands: readonly string[];
  /** Targets of links and images, as written. */
  readonly links: readonly { readonly url: string; readonly line: number }[];
}

/** Reads one page. @throws ENOENT */
export function readMarkdown(path: string): MarkdownPage {
  const root = fromMarkdown(readFileSync(path, "utf8"));
  const blocks = blocksOf(root);
  return { blocks, headings: headingsOf(root), commands: commandsOf(root, blocks), links: linksOf(root) };
}

function blocksOf(root: Root): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  visit(root, "code", (node: Code, index, parent) => {
    const comments: string[] = [];
    for (let above = (index ?? 0) - 1; above >= 0; above--) {
      const sibling = parent?.children[above];
      const comment = sibling?.type === "html" ? commentText(sibling) : undefined;
      if (comment === undefined) break;
      comments.unshift(comment);
    }
    const below = parent?.children[(index ?? 0) + 1];
    blocks.push({
      shownOutput: below?.type === "code" && below.lang === "txt" ? below.value : undefined,
      language: (node.lang ?? "").toLowerCase(),
      code: node.value,
      line: node.position?.start.line ?? 0,
      comments,
    });
  });
  return blocks;
}

function commentText(node: Html): string | undefined {
  return /^<!--([\s\S]*)-->$/.exec(node.value.trim())?.[1]?.trim();
}

function headingsOf(root: Root): Heading[] {
  const slugger = new GithubSlugger();
  const headings: { text: string; depth: number; anchor: string; body: string }[] = [];
  for (const node of root.children) {
    const last = headings.at(-1);
    if (node.type === "heading") {
      const text = plainText(node);
      headings.push({ text, depth: node.depth, anchor: slugger.slug(text), body: "" });
    } else if (last && node.type !== "html") last.body += `${plainText(node)}\n`;
  }
  return headings;
}

function commandsOf(root: Root, blocks: readonly CodeBlock[]): string[] {
  const shell = new Set(["sh", "bash", "shell", "console"]);
  const commands = blocks.filter(({ language }) => shell.has(language)).map(({ code }) => code);
  visit(root, "inlineCode", (node) => void commands.push(node.value));
  return commands;
}

function linksOf(root: Root): { url: string; line: number }[] {
  const links: { url: string; line: number }[] = [];
  visit(root, (node) => {
    if (node.type === "link" || node.type === "image" || node.type === "definition") {
      links.push({ url: node.url, line: node.position?.start.line ?? 0 });
    }
    if (node.type === "html") {
      for (const [, url] of node.value.matchAll(/(?:src|href)="([^"]+)"/g)) {
        if (url) links.push({ url, line: node.position?.start.line ?? 0 });
      }
    }
  });
  return links;
}
