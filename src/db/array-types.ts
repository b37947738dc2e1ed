/**
 * The array types that our statements use. Without them, postgres.js queries the server for its array types
 * on every connection. An error of that query cannot be caught, so a connection that breaks at that moment
 * would end the process (fetchArrayTypes in connection.js, 3.4.9).
 */
export const arrayTypes = Object.fromEntries(
  // https://www.postgresql.org/docs/18/catalog-pg-type.html: int4, text, int8, timestamptz, numeric, uuid.
  [1007, 1009, 1016, 1185, 1231, 2951].map((oid) => [
    `array${oid}`,
    { to: oid, from: [oid], serialize: arrayText, parse: parseArray },
  ]),
)

/**
 * https://www.postgresql.org/docs/18/arrays.html#ARRAYS-IO. drizzle passes the text of an array as a string.
 */
export function arrayText(items: readonly unknown[] | string): string {
  if (typeof items === 'string') return items
  return `{${items.map(itemText).join(',')}}`
}

function itemText(item: unknown): string {
  if (item === null || item === undefined) return 'NULL'
  const text = item instanceof Date ? item.toISOString() : String(item)
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

/** A one-dimensional array whose items are all text. */
export function parseArray(text: string): (string | null)[] {
  const items = text.matchAll(/[{,](?:"((?:[^"\\]|\\.)*)"|([^{},"]+))/gs)
  return [...items].map(([, quoted, plain]) =>
    quoted === undefined ? (plain === 'NULL' ? null : (plain ?? null)) : quoted.replace(/\\(.)/gs, '$1'),
  )
}
