import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, it } from "vitest";
import { postgresStore } from "../src/index.js";
import { refusalOf } from "./support/refusal.js";

/** A message of the server: its type, its length and its body. */
function message(type: string, body: string): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, Buffer.from(body, "latin1")]);
}

it("refuses the call when a server dies in the moment in which it accepts the connection", async () => {
  // All in one packet: the client hears of the error before anybody can listen to the connection that it was given.
  const welcome = [message("R", "\0\0\0\0"), message("Z", "I")];
  const farewell = message("E", "SFATAL\0C57P02\0Mterminating connection\0\0");
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(Buffer.concat([...welcome, farewell])));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const store = postgresStore({ connectionString: `postgres://user@127.0.0.1:${port}/database?sslmode=disable` });
  expect(await refusalOf(store.head("n"))).toMatchObject({ code: "STORE_UNAVAILABLE" });
  await store.close();
  server.close();
});
