import { expect, it } from "vitest";
import { createTaskTracker } from "./task-tracker.js";

it("asks each task once how it ended, however many wait for it", async () => {
  const tasks = createTaskTracker();
  let asked = 0;
  let finish = (): void => undefined;
  const waits: Promise<void>[] = [];
  const works = Array.from({ length: 50 }, () => {
    const work = new Promise<void>((resolve) => {
      const before = finish;
      finish = () => {
        before();
        resolve();
      };
    });
    const counted = Object.assign(work, {
      // biome-ignore lint/suspicious/noThenProperty: counts its readers
      then: (...handlers: Parameters<Promise<void>["then"]>) => {
        asked += 1;
        return Promise.prototype.then.apply(work, handlers);
      },
    }) as Promise<void>;
    tasks.track(counted);
    waits.push(tasks.current());
    return counted;
  });

  // Once by the tracker, once by the first wait that covers it.
  expect(asked).toBe(2 * works.length);
  finish();
  await Promise.all(waits);
  expect(tasks.size).toBe(0);
});

it("waits for the tasks that an earlier wait knows, and not for later ones", async () => {
  const tasks = createTaskTracker();
  const ended: string[] = [];
  let finish = (): void => undefined;
  tasks.track(
    new Promise<void>((resolve) => {
      finish = resolve;
    }),
  );
  const first = tasks.current().then(() => ended.push("first"));
  const second = tasks.current().then(() => ended.push("second"));
  tasks.track(new Promise(() => undefined));

  expect(ended).toEqual([]);
  finish();
  await Promise.all([first, second]);
  expect(ended).toEqual(["first", "second"]);
  expect(tasks.size).toBe(1);
});
