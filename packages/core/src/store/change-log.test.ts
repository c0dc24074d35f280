import { describe, expect, it } from "vitest";
import { ChangeLog } from "./change-log.js";

const refs = (...ids: string[]) => ids.map((id) => ({ scope: "s", id }));
const idsOf = (changes: { readonly written: readonly { readonly id: string }[] | undefined }) =>
  changes.written?.map(({ id }) => id);

describe("ChangeLog", () => {
  it("tells a reader what was written since it last asked, namespace by namespace", () => {
    const log = new ChangeLog();
    const start = log.since("a", 0);
    expect(start.written).toBeUndefined();
    log.add("a", refs("x", "y"));
    log.add("b", refs("z"));
    const next = log.since("a", start.cursor);
    expect(idsOf(next)).toEqual(["x", "y"]);
    expect(idsOf(log.since("a", next.cursor))).toEqual([]);
    log.add("a", refs("w"));
    expect(idsOf(log.since("a", next.cursor))).toEqual(["w"]);
  });

  it("says that it does not know to a reader that fell too far behind", () => {
    const log = new ChangeLog();
    const { cursor } = log.since("a", 0);
    log.add("a", refs("early"));
    const recent = log.since("a", cursor).cursor;
    for (let i = 0; i < 9_000; i++) log.add("a", refs(`m${i}`));
    expect(log.since("a", cursor).written).toBeUndefined();
    expect(log.since("a", recent).written).toBeUndefined();
    const now = log.since("a", 0).cursor;
    log.add("a", refs("late"));
    expect(idsOf(log.since("a", now))).toEqual(["late"]);
  });

  it("makes every cursor of a forgotten namespace too old, and keeps the others'", () => {
    const log = new ChangeLog();
    log.add("a", refs("x"));
    log.add("b", refs("y"));
    const a = log.since("a", 0).cursor;
    const b = log.since("b", 0).cursor;
    log.forget("a");
    expect(log.since("a", a).written).toBeUndefined();
    expect(idsOf(log.since("b", b))).toEqual([]);
    log.forget();
    expect(log.since("b", b).written).toBeUndefined();
  });

  it("leaves namespaces that nobody wrote to alone when it forgets another", () => {
    const log = new ChangeLog();
    const [quiet, forgotten] = [log.since("quiet", 0).cursor, log.since("a", 0).cursor];
    log.forget("a");
    expect(idsOf(log.since("quiet", quiet))).toEqual([]);
    expect(log.since("a", forgotten).written).toBeUndefined();
    const { cursor } = log.since("a", forgotten);
    expect(idsOf(log.since("a", cursor))).toEqual([]);
    log.forget("a");
    expect(log.since("a", cursor).written).toBeUndefined();
  });

  it("never mistakes an old cursor for a current one, however many namespaces it had to forget", () => {
    const log = new ChangeLog();
    const cursors = new Map<string, number>();
    for (let i = 0; i < 2_000; i++) {
      const namespace = `n${i}`;
      log.add(namespace, refs(...Array.from({ length: 100 }, (_, m) => `m${m}`)));
      cursors.set(namespace, log.since(namespace, 0).cursor);
    }
    let forgotten = 0;
    for (const [namespace, cursor] of cursors) {
      log.add(namespace, refs("again"));
      const { written } = log.since(namespace, cursor);
      if (written === undefined) forgotten += 1;
      else expect(written.map(({ id }) => id)).toEqual(["again"]);
    }
    expect(forgotten).toBeGreaterThan(0);
  });
});
