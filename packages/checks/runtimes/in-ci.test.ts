import { RUNTIMES_IN_CI } from "../src/runtimes.js";
import { testRuntimes } from "./test-runtimes.js";

testRuntimes(RUNTIMES_IN_CI);
