// workerd test <configuration>
import { loop } from "./loop.mjs";

// biome-ignore lint/style/noDefaultExport: workerd looks for it.
export default {
  async test() {
    console.log(JSON.stringify({ learned: await loop() }));
  },
};
