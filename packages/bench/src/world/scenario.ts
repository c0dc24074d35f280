/** What kind of world to simulate. Shares and probabilities in [0, 1]. */
export interface Scenario {
  /** Runs in the stream; beyond the texts there are, they are asked again in another order. @default 3,000 */
  readonly runs?: number;
  /** Memories shown per run. @default 5 */
  readonly k?: number;
  /** Held-out requests to judge by. @default 400 */
  readonly heldOut?: number;
  /** Share of lessons that mislead. @default 0.3 */
  readonly poison?: number;
  /** Share of lessons that do nothing; the rest helps. @default 0.2 */
  readonly neutral?: number;
  /** Share of needs that the stream never asks about. @default 0.15 */
  readonly unseen?: number;
  /** Probability that an outcome is reported the wrong way round. @default 0 */
  readonly flip?: number;
}

export const DEFAULT_SCENARIO: Required<Scenario> = {
  runs: 3000,
  k: 5,
  heldOut: 400,
  poison: 0.3,
  neutral: 0.2,
  unseen: 0.15,
  flip: 0,
};
