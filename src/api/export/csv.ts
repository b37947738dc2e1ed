// CSV by RFC 4180: https://www.rfc-editor.org/rfc/rfc4180

/** A line of CSV. Null and undefined are empty cells. */
export function csvLine(cells: readonly unknown[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

/**
 * Spreadsheets run a text that begins with `=`, `+`, `-` or `@` as a formula, also behind a tab or a line break. Such a text gets
 * an apostrophe before it. Numbers are no texts, and stay as they are.
 */
function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value !== 'string') return String(value)
  const safe = /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
