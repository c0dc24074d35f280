import * as OAR from "./parameters.js";

/** A slope with its standard error. */
export interface Slope {
  readonly value: number;
  readonly error: number;
}

/** The slopes of surprises on two predictions: `s = A⁻¹ h,  err_i = √(0.2 (A⁻¹)_ii)`. A includes the prior, so that it has an inverse. */
export function slopesOf(a11: number, a12: number, a22: number, h1: number, h2: number): readonly [Slope, Slope] {
  const determinant = a11 * a22 - a12 * a12;
  const slope = (numerator: number, other: number): Slope => ({
    value: numerator / determinant,
    error: Math.sqrt((OAR.surpriseVariance * other) / determinant),
  });
  return [slope(a22 * h1 - a12 * h2, a22), slope(a11 * h2 - a12 * h1, a11)];
}
