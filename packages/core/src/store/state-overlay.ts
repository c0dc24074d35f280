import type { StateRef, StateWrite } from "./store.js";

/** States written but not yet in the backend, by scope and id; the last write of a state counts. `null` is a removal. */
export class StateOverlay {
  readonly #below: StateOverlay | undefined;
  readonly #scopes = new Map<string, Map<string, Uint8Array | null>>();

  /** @param below earlier writes, seen wherever this overlay has none of its own. */
  constructor(below?: StateOverlay) {
    this.#below = below;
  }

  /** The value written last, null if the state was removed, undefined if nobody touched it. */
  get(ref: StateRef): Uint8Array | null | undefined {
    const written = this.#scopes.get(ref.scope)?.get(ref.id);
    return written === undefined ? this.#below?.get(ref) : written;
  }

  set({ scope, id, value }: StateWrite): void {
    let states = this.#scopes.get(scope);
    if (!states) {
      states = new Map();
      this.#scopes.set(scope, states);
    }
    states.set(id, value);
  }

  /** Takes over the own writes of a later overlay. */
  add(later: StateOverlay): void {
    for (const write of later.writes()) this.set(write);
  }

  /** Every own write, scope by scope. */
  *writes(): Iterable<StateWrite> {
    for (const [scope, states] of this.#scopes) for (const [id, value] of states) yield { scope, id, value };
  }
}
