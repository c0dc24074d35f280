import { Document } from "@langchain/core/documents";
import { describe, expect, it } from "vitest";
import { documentId } from "../src/document-ids.js";

const id = (fields: { id?: string; metadata?: Record<string, unknown>; text?: string }, options = {}): string =>
  documentId(
    new Document({
      pageContent: fields.text ?? "text",
      metadata: fields.metadata ?? {},
      ...(fields.id ? { id: fields.id } : {}),
    }),
    options,
  );

describe("documentId", () => {
  it("looks at idOf, the document, the metadata field, _id and then the text", () => {
    const fields = { id: "own", metadata: { key: "field", _id: "mongo" } };
    expect(id(fields, { idOf: () => "named", idKey: "key" })).toBe("named");
    expect(id(fields, { idOf: () => undefined, idKey: "key" })).toBe("own");
    expect(id({ metadata: fields.metadata }, { idKey: "key" })).toBe("field");
    expect(id({ metadata: fields.metadata })).toBe("mongo");
    expect(id({ text: "a" })).toBe("text:pabo24ma3euslum2");
    expect(id({ text: "a" })).toBe(id({ text: "a", metadata: { other: 1 } }));
    expect(id({ text: "a" })).not.toBe(id({ text: "b" }));
  });

  it("takes numbers and driver objects by their text", () => {
    class ObjectId {
      toString(): string {
        return "65f0";
      }
    }
    expect(id({ metadata: { _id: 7 } })).toBe("7");
    expect(id({ metadata: { _id: new ObjectId() } })).toBe("65f0");
    expect(id({ metadata: { _id: { nested: 1 } } })).toMatch(/^text:/);
    // As parsers make it: it has no text, and would fail the ranking of all documents.
    expect(id({ metadata: { _id: Object.create(null) } })).toMatch(/^text:/);
    expect(id({ metadata: { _id: new (class Opaque {})() } })).toMatch(/^text:/);
    expect(id({ metadata: { _id: "" } })).toMatch(/^text:/);
  });

  it("hashes what a ledger could not keep", () => {
    expect(id({ id: "x".repeat(513) })).toMatch(/^id:[0-9a-f]{64}$/);
    expect(id({ id: "x".repeat(512) })).toBe("x".repeat(512));
    expect(id({ id: "\ud800" })).toMatch(/^id:/);
  });
});
