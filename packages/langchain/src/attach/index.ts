export { attach } from "./attach.js";
