/** An identifier for SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text for SQL. `standard_conforming_strings` may be off, so backslashes count. */
export function quotedText(text: string): string {
  const doubled = text.replaceAll("'", "''");
  return text.includes("\\") ? `E'${doubled.replaceAll("\\", "\\\\")}'` : `'${doubled}'`;
}
