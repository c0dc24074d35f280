/** Options with every default filled in. */
export type Defined<Fields> = { readonly [Key in keyof Fields]-?: Exclude<Fields[Key], undefined> };

/** The fields that are not undefined: one that is there but undefined counts as absent, and must not shadow a default. */
export function definedOnly<Fields extends object>(fields: Fields): Partial<Defined<Fields>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<
    Defined<Fields>
  >;
}
