import type { SetTimer } from "@qavr/core";

interface Event {
  readonly at: number;
  /** Order among events of one time. */
  readonly turn: number;
  readonly run: () => void;
}

/** Time that passes only when everything that can happen has happened: the same seed gives the same history. */
export class VirtualTime {
  now = 0;
  #turn = 0;
  readonly #events = new Set<Event>();

  readonly setTimer: SetTimer = (run, milliseconds) => {
    const event: Event = { at: this.now + milliseconds, turn: this.#turn++, run };
    this.#events.add(event);
    return () => this.#events.delete(event);
  };

  /** Resolves after so many ms of this time. */
  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => void this.setTimer(resolve, milliseconds));
  }

  /**
   * Lets events happen, one at a time, until `done` settles.
   *
   * @throws when nothing is left that could happen, or after `limit` ms of this time: somebody waits for ever
   */
  async until(done: Promise<unknown>, limit: number): Promise<void> {
    let settled = false;
    let failure: { readonly error: unknown } | undefined;
    done.then(
      () => {
        settled = true;
      },
      (error: unknown) => {
        settled = true;
        failure = { error };
      },
    );
    for (;;) {
      // Every promise that can go on does so before the next event.
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (settled) break;
      let next: Event | undefined;
      for (const event of this.#events) {
        if (!next || event.at < next.at || (event.at === next.at && event.turn < next.turn)) next = event;
      }
      if (!next || next.at > limit) throw new Error(`somebody waits for ever, at ${this.now} ms`);
      this.now = Math.max(this.now, next.at);
      this.#events.delete(next);
      next.run();
    }
    if (failure) throw failure.error;
  }
}
