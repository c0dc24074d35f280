/** The tag around memories. */
const TAG = "memories";

/** Characters between or over letters that do not change them: spaces, controls, accents, letters without a shape. */
const UNREAD = /[\s\p{C}\p{M}\u115f\u1160\u2800\u3164]/gu;

/** Characters of other scripts that look like those of the tag. */
const LOOKS_LIKE = new Map(
  Object.entries({
    "<": "‹〈〈⟨⧼❬❮❰≺˂ᐸ",
    "/": "\\∕⁄⧸╱∖⧵",
    m: "мⅿ",
    e: "еєℯε",
    o: "оοօ",
    r: "гᴦ",
    i: "іιı",
    s: "ѕꜱ",
  }).flatMap(([read, others]) => [...others].map((other) => [other, read] as const)),
);

/**
 * Text that cannot end the fence around it, nor open another: a `<`, or a character like it, that would begin the fence's own tag, in any
 * case, width, spacing, accents or look-alikes, becomes `&lt;`. All other markup stays as it is.
 */
export function escapeFence(text: string): string {
  const characters = [...text];
  const read = characters.map(plain);
  return characters.map((character, i) => (read[i] === "<" && opensTag(read, i + 1) ? "&lt;" : character)).join("");
}

/** The fence around lines of text: `<memories>`, the introduction, the lines, `</memories>`. */
export function fenced(introduction: string, lines: readonly string[]): string {
  return [`<${TAG}>`, introduction, ...lines, `</${TAG}>`].join("\n");
}

/** True when the characters from `place` on read as the tag's name, with or without slashes in front. */
function opensTag(read: readonly string[], place: number): boolean {
  let matched = "";
  for (let i = place; i < read.length; i++) {
    const character = read[i] as string;
    if (character === "/" && matched === "") continue;
    if (!TAG.startsWith(matched + character)) return false;
    matched += character;
    if (matched === TAG) return true;
  }
  return false;
}

/** A character as it is read: its basic form, without accents; empty if it is not read at all. */
function plain(character: string): string {
  const basic = character.normalize("NFKD").replaceAll(UNREAD, "").toLowerCase();
  return LOOKS_LIKE.get(basic) ?? basic;
}
