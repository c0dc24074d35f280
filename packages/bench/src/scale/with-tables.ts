/**
 * A page with its tables replaced: what stands between `<!-- table: name -->` and `<!-- end of table -->`. So the prose of a page is
 * written by people and its numbers by a command.
 *
 * @throws Error when the page and the tables do not name the same
 */
export function withTables(page: string, tables: Readonly<Record<string, string>>): string {
  const written = new Set<string>();
  const replaced = page.replace(
    /(<!-- table: ([\w-]+) -->\n)[\s\S]*?(<!-- end of table -->)/g,
    (_, begin: string, name: string, end: string) => {
      const table = tables[name];
      if (table === undefined) throw new Error(`The page wants a table ${name}; there is none.`);
      written.add(name);
      return `${begin}\n${table}\n\n${end}`;
    },
  );
  const missing = Object.keys(tables).filter((name) => !written.has(name));
  if (missing.length > 0) throw new Error(`The page has no place for ${missing.join(", ")}.`);
  return replaced;
}
