import type { LedgerDigests } from "./ledger-digests.js";
import type { LedgerCheck, LedgerDamage } from "./store.js";

/** Most damages that a check names. */
const NAMED = 100;

/** Collects the damage of a ledger. */
export class DamageReport {
  namespaces = 0;
  entries = 0;
  readonly #digests: Uint8Array[] = [];
  readonly #damage: LedgerDamage[] = [];
  #damaged = 0;

  add(...problems: readonly LedgerDamage[]): void {
    this.#damaged += problems.length;
    this.#damage.push(...problems.slice(0, NAMED - this.#damage.length));
  }

  /** Runs a part of the check; its errors count as damage. */
  attempt(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.addError(error);
    }
  }

  addError(error: unknown): void {
    this.add({ problem: error instanceof Error ? error.message : String(error) });
  }

  /** @param digest of its last entry */
  addNamespace(digest: Uint8Array): void {
    this.namespaces += 1;
    this.#digests.push(digest);
  }

  /**
   * The whole report. Namespaces must have been added in the order of their names, which the digest covers.
   *
   * @param only the only namespace checked; the digest is then that of its last entry
   */
  result(digests: LedgerDigests, only?: string): LedgerCheck {
    const digest = only === undefined ? digests.all(this.#digests) : (this.#digests[0] ?? digests.first(only));
    return {
      namespaces: this.namespaces,
      entries: this.entries,
      digest: [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join(""),
      damaged: this.#damaged,
      damage: this.#damage,
    };
  }
}
