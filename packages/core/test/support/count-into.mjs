// For fixtures of stores: commits `count` entries one after the other, keys `<prefix>-<n>`, and prints how many were new.
// The store is opened at the moment given (Unix ms) and not before.
const text = new TextEncoder();

export async function countInto(open, prefix, count, moment = 0) {
  while (Date.now() < Number(moment));
  const store = open();
  let fresh = 0;
  for (let n = 0; n < Number(count); n++) {
    const entry = { key: `${prefix}-${n}`, type: "tally", at: 0, payload: text.encode(`${prefix}-${n}`) };
    const [receipt] = await store.commit("n", [entry], function* () {
      const [bytes] = yield [{ scope: "stats", id: "count" }];
      const counted = bytes === undefined ? 1 : Number(new TextDecoder().decode(bytes)) + 1;
      return [{ scope: "stats", id: "count", value: text.encode(String(counted)) }];
    });
    if (receipt.status === "committed") fresh++;
  }
  await store.close();
  console.log(fresh);
}
