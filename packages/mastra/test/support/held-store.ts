import { memoryStore, type Store } from "@qavr/core";

/** A store whose commits wait until they are let go. */
export function heldStore(): { store: Store; hold: () => void; letGo: () => void } {
  const inner = memoryStore();
  let gate = Promise.resolve();
  let letGo = (): void => undefined;
  return {
    store: { ...inner, commit: (...call) => gate.then(() => inner.commit(...call)) },
    hold: () => {
      gate = new Promise((resolve) => {
        letGo = resolve;
      });
    },
    letGo: () => letGo(),
  };
}
