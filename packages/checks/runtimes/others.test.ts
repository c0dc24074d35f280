import { OTHER_RUNTIMES } from "../src/runtimes.js";
import { testRuntimes } from "./test-runtimes.js";

testRuntimes(OTHER_RUNTIMES);
