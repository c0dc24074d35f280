/** Options with every default filled in. */
export type Defined<Fields> = { readonly [Key in keyof Fields]-?: Exclude<Fields[Key], undefined> };

/**
 * The fields that are not undefined: one that is there but undefined counts as absent, and must not shadow a default.
 *
 * @param known Every field there is: then those count, too, that an object has from its class or its prototype.
 */
export function definedOnly<Fields extends object>(
  fields: Fields,
  known: Readonly<Record<keyof Fields, unknown>> = fields,
): Partial<Defined<Fields>> {
  const names = Object.keys(known) as (keyof Fields)[];
  const given = names.map((name) => [name, fields[name]] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined)) as Partial<Defined<Fields>>;
}
