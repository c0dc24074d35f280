import type { Pool } from "pg";
import { expect } from "vitest";
import { SOON } from "./soon.js";

/** Changes a setting of a running server, and waits until its sessions know. */
export async function changeSetting(pool: Pool, name: string, value: string): Promise<void> {
  await pool.query(`alter system set ${name} = '${value}'`);
  await pool.query("select pg_reload_conf()");
  await expect.poll(async () => (await pool.query(`show ${name}`)).rows[0][name], SOON).toBe(value);
}
