/** A result of one check. */
export interface Finding {
  /** Stable and documented in docs/reference/cli.md. */
  readonly id: string;
  /** The observation, with its numbers. */
  readonly finding: string;
  readonly fix: string;
}
