import type { Pool } from "pg";

/** Flips a bit of what is kept of namespace `n`. */
export async function damage(pool: Pool, schema: string, part: "head" | "digest" | "states"): Promise<void> {
  const changes = {
    head: `namespace set head = head # 64 where name = 'n'`,
    digest: `namespace set digest = set_byte(digest, 1, get_byte(digest, 1) # 1) where name = 'n'`,
    states: "state set value = set_byte(value, 1, get_byte(value, 1) # 1)",
  };
  await pool.query(`update "${schema}".${changes[part]}`);
}
