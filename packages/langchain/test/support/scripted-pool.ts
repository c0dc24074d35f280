interface Row {
  readonly id: string;
  readonly text: string;
  readonly embedding: string;
  readonly metadata: object;
}

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);

/** pgvector's operators. Its inner product is negative, so that the smallest is the nearest. */
const OPERATORS: Readonly<Record<string, (a: readonly number[], b: readonly number[]) => number>> = {
  "<=>": (a, b) => 1 - dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)),
  "<#>": (a, b) => -dot(a, b),
  "<->": (a, b) => Math.hypot(...a.map((x, i) => x - (b[i] as number))),
};

/** A pool of `pg` that answers the statements of PGVectorStore as PostgreSQL with pgvector does. */
export function scriptedPool(): { query(sql: string, values?: readonly unknown[]): Promise<{ rows: object[] }> } {
  const rows: Row[] = [];
  return {
    async query(sql, values = []) {
      const statement = sql.trim().split(/\s/)[0];
      if (statement === "INSERT") {
        const named = sql.includes('"id"');
        const width = named ? 4 : 3;
        for (let at = 0; at < values.length; at += width) {
          const [text, embedding, metadata, id] = values.slice(at, at + width) as [string, string, object, string?];
          rows.push({ id: id ?? `row-${rows.length + 1}`, text, embedding, metadata });
        }
        return { rows: [] };
      }
      if (statement === "DELETE") {
        const gone = new Set(values[0] as string[]);
        rows.splice(0, rows.length, ...rows.filter(({ id }) => !gone.has(id)));
        return { rows: [] };
      }
      const operator = /"embedding" (\S+) \$1/.exec(sql)?.[1];
      const distance = operator === undefined ? undefined : OPERATORS[operator];
      if (statement !== "SELECT" || !distance) throw new Error(`No script for ${sql}`);
      const [query, limit, kind] = values as [string, number, string?];
      const vector = JSON.parse(query) as number[];
      return {
        rows: rows
          .filter(({ metadata }) => kind === undefined || (metadata as { kind?: string }).kind === kind)
          .map((row) => ({
            ...structuredClone(row),
            _distance: distance(JSON.parse(row.embedding) as number[], vector),
          }))
          .sort((a, b) => a._distance - b._distance)
          .slice(0, limit),
      };
    },
  };
}
