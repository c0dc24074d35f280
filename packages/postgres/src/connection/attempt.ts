/** What a step of a generator gives, or what it throws: a reduction's error is its own call's affair. */
export function attempt<Step>(step: () => Step): Step | { readonly error: unknown } {
  try {
    return step();
  } catch (error) {
    return { error };
  }
}
