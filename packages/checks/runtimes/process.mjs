// <runtime> process.mjs <folder>
import { DatabaseSync } from "node:sqlite";
import { sqliteStore } from "@qavr/sqlite";
import { loop } from "./loop.mjs";

const { version } = new DatabaseSync(":memory:").prepare("select sqlite_version() as version").get();
const store = sqliteStore(`${process.argv[2]}/shared.db`);
const learned = await loop(process.argv[2]);
const sqlite = { version, sharesFiles: store.capabilities.sharedBackend };
console.log(JSON.stringify({ learned, sqlite }));
