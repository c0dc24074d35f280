import { describe, expect, it } from "vitest";
import { createRunTokens, type RunGrant } from "../src/governance/index.js";
import { seededRandom } from "./support/random.js";
import { DAY, request, testEngine } from "./support/test-engine.js";

const secret = Uint8Array.from({ length: 32 }, (_, i) => i);
const another = secret.map((byte) => byte ^ 0xff);

async function setup(grant: Partial<RunGrant> = {}) {
  const world = testEngine();
  const tokens = createRunTokens({ engine: world.engine, secret, clock: () => world.clock.now });
  const { episode } = await world.engine.rank(request());
  await world.engine.end(episode);
  const token = await tokens.issue({ episode, source: "browser", ...grant });
  return { ...world, tokens, episode, token };
}

describe("a run token", () => {
  it("lets its holder report one outcome, under the name and tier that it was issued for", async () => {
    const { engine, tokens, token, episode } = await setup({ tier: "user" });
    expect(await tokens.report(token, { reward: true, helpful: ["m1"] })).toMatchObject({
      status: "committed",
      episode,
    });
    expect(await engine.explain(episode)).toMatchObject({ outcome: { reward: 1, tier: "user", source: "browser" } });
  });

  it("lets its holder take a vote back", async () => {
    const { engine, tokens, token, episode } = await setup();
    const votes = async () => (await engine.explain(episode))?.votes;
    await tokens.report(token, { reward: null, harmful: ["m1"] });
    expect(await votes()).toHaveLength(1);
    await tokens.report(await tokens.issue({ episode, source: "browser" }), { reward: null, neutral: ["m1"] });
    expect(await votes()).toBeUndefined();
  });

  it("counts once: the same words again are a duplicate, other words a conflict", async () => {
    const { engine, tokens, token } = await setup();
    await tokens.report(token, { reward: false });
    expect(await tokens.report(token, { reward: false })).toMatchObject({ status: "duplicate" });
    await expect(tokens.report(token, { reward: true })).rejects.toMatchObject({ code: "IDEMPOTENCY_CONFLICT" });
    expect(await engine.status()).toMatchObject({ outcomes: { "self-reported": 1 } });
  });

  it("gives its holder no say in tier, source, weight or key", async () => {
    const { engine, tokens, token } = await setup({ weight: 0.5 });
    for (const more of [{ tier: "verified" }, { source: "boss" }, { weight: 1 }, { idempotencyKey: "k" }]) {
      await expect(tokens.report(token, { reward: true, ...more } as never)).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
    }
    expect((await engine.status()).seq).toBe(1);
  });

  it("has one form: no other last character stands for the same signature", async () => {
    const { engine, tokens, token } = await setup();
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const others = [...alphabet].filter((character) => !token.endsWith(character));
    for (const character of others) {
      const changed = tokens.report(token.slice(0, -1) + character, { reward: true });
      await expect(changed).rejects.toMatchObject({ code: "INVALID_TOKEN" });
    }
    expect((await engine.status()).seq).toBe(1);
  });

  it("of another version is refused, although its signature is genuine", async () => {
    const { tokens, token } = await setup();
    const claims = JSON.parse(Buffer.from(token.split(".")[0] as string, "base64url").toString());
    const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    const signed = async (content: object): Promise<string> => {
      const body = Buffer.from(JSON.stringify(content));
      const signature = Buffer.from(await crypto.subtle.sign("HMAC", key, body));
      return `${body.toString("base64url")}.${signature.toString("base64url")}`;
    };
    await expect(tokens.report(await signed({ ...claims, v: 2 }), { reward: true })).rejects.toMatchObject({
      code: "INVALID_TOKEN",
      details: { reason: "version" },
    });
    expect(await tokens.report(await signed(claims), { reward: true })).toMatchObject({ status: "committed" });
  });

  it("can be reported on whatever the names in it are", async () => {
    const { tokens } = await setup();
    for (const unit of ["\u0001", "\u20ac", '"']) {
      const name = unit.repeat(512);
      const token = await tokens.issue({ episode: name, namespace: name, source: name });
      await expect(tokens.report(token, { reward: true })).rejects.toMatchObject({ code: "UNKNOWN_EPISODE" });
    }
  });

  it("ends, and ends where the memories of its run end", async () => {
    const { tokens, token, clock, episode } = await setup({ ttl: 1_000 });
    await expect(tokens.report(token, { reward: true, helpful: ["d9"] })).rejects.toMatchObject({ code: "NOT_SHOWN" });
    const foreign = await tokens.issue({ episode, namespace: "another", source: "browser" });
    await expect(tokens.report(foreign, { reward: true })).rejects.toMatchObject({ code: "UNKNOWN_EPISODE" });
    const long = await tokens.issue({ episode, source: "browser", ttl: 90 * DAY });
    clock.now += 1_001;
    await expect(tokens.report(token, { reward: true })).rejects.toMatchObject({
      code: "INVALID_TOKEN",
      details: { reason: "expired" },
    });
    clock.now += 31 * DAY;
    await expect(tokens.report(long, { reward: true })).rejects.toMatchObject({ code: "OUTCOME_TOO_LATE" });
  });

  it("cannot be made up, cut, put together or changed: 2,000 tries", async () => {
    const { engine, tokens, token, episode } = await setup();
    const other = await tokens.issue({ episode, source: "boss", tier: "verified" });
    const [body, signature] = token.split(".") as [string, string];
    const random = seededRandom(7);
    const forged = [
      "",
      ".",
      "..",
      token.slice(1),
      `${other.split(".")[0]}.${signature}`,
      `${body}.`,
      `${token}.${body}`,
      `${body}.${"A".repeat(9_000)}`,
    ];
    while (forged.length < 2_000) {
      const at = random.below(token.length);
      const letter = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[random.below(64)];
      const changed = token.slice(0, at) + letter + token.slice(at + 1);
      if (changed !== token && !sameBytesAs(changed, token)) forged.push(changed);
    }
    const codes = new Set<unknown>();
    for (const wrong of forged) {
      await tokens.report(wrong, { reward: true }).then(
        () => codes.add("accepted"),
        (error: { code: string }) => codes.add(error.code),
      );
    }
    expect([...codes]).toEqual(["INVALID_TOKEN"]);
    await expect(tokens.report(7 as never, { reward: true })).rejects.toMatchObject({ code: "INVALID_TOKEN" });
    expect((await engine.status()).seq).toBe(1);
  });

  it("outlives a change of secrets as long as the old one is listed", async () => {
    const { engine, token } = await setup();
    const clock = (): number => 0;
    const changed = createRunTokens({ engine, secret: [another, secret], clock });
    const forgotten = createRunTokens({ engine, secret: another, clock });
    await expect(forgotten.report(token, { reward: true })).rejects.toMatchObject({ details: { reason: "signature" } });
    expect(await changed.report(token, { reward: true })).toMatchObject({ status: "committed" });
  });

  it("is not issued for what makes no sense, nor with a short secret", async () => {
    const { tokens, engine, episode } = await setup();
    for (const wrong of [{ tier: "god" }, { ttl: 0 }, { ttl: Infinity }, { weight: 2 }]) {
      await expect(tokens.issue({ episode, source: "s", ...wrong } as RunGrant)).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
    }
    await expect(tokens.issue({ episode: "", source: "s" })).rejects.toMatchObject({ code: "INVALID_ID" });
    for (const short of [secret.slice(1), [], [secret, secret.slice(1)], "text"]) {
      expect(() => createRunTokens({ engine, secret: short as never })).toThrowError(
        expect.objectContaining({ code: "INVALID_ARGUMENT" }),
      );
    }
  });
});

/** Base64 has letters whose last bits mean nothing. */
function sameBytesAs(a: string, b: string): boolean {
  const bytes = (text: string): string[] =>
    text.split(".").map((part) => Buffer.from(part, "base64url").toString("hex"));
  return bytes(a).join() === bytes(b).join();
}
