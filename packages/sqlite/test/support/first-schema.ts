import { DatabaseSync } from "node:sqlite";
import { nameToBytes } from "@qavr/core";
import { entryChecksum } from "../../src/entry-checksum.js";
import { LEDGER, MIGRATIONS, migrate } from "../../src/schema.js";
import { tally } from "./counting.js";

/** A ledger as the first schema kept it: two namespaces, `n` and `m`, with `count` counted entries each. */
export function firstSchemaLedger(path: string, count: number): void {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode = WAL");
  migrate(db, path, { ...LEDGER, migrations: MIGRATIONS.slice(0, 1) });
  const addEntry = db.prepare(
    "INSERT INTO entry (namespace, seq, key, type, at, payload, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  db.exec("BEGIN");
  ["n", "m"].forEach((name, i) => {
    db.prepare("INSERT INTO namespace (id, name, head) VALUES (?, ?, ?)").run(i + 1, nameToBytes(name), count);
    for (let seq = 1; seq <= count; seq++) {
      const { key, type, at, payload } = tally(`k${seq - 1}`);
      const row = { seq, key: nameToBytes(key), type: nameToBytes(type), at, payload };
      addEntry.run(i + 1, seq, row.key, row.type, at, payload, entryChecksum(row));
    }
    db.prepare("INSERT INTO scope (id, namespace, name) VALUES (?, ?, ?)").run(i + 1, i + 1, nameToBytes("stats"));
    const state = db.prepare("INSERT INTO state (scope, id, value) VALUES (?, ?, ?)");
    state.run(i + 1, nameToBytes("count"), nameToBytes(String(count)));
  });
  db.exec("COMMIT");
  db.close();
}
