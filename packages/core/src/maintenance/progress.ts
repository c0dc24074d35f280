import { illegalOption } from "../errors/illegal-option.js";

/** Called while a long work goes on, with the number of entries done and of all that there are. Work that begins again starts at 0. */
export type Progress = (done: number, total: number) => void;

/** @throws INVALID_ARGUMENT */
export function checkProgress(progress: unknown): void {
  if (progress === undefined || typeof progress === "function") return;
  throw illegalOption("progress", "progress must be a function of two numbers", progress);
}
