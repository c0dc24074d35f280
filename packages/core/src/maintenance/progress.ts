import { type FieldRule, FUNCTION } from "../errors/field-rules.js";

/** Called while a long work goes on, with the number of entries done and of all that there are. Work that begins again starts at 0. */
export type Progress = (done: number, total: number) => void;

export const PROGRESS: FieldRule = [FUNCTION[0], "a function of two numbers"];
