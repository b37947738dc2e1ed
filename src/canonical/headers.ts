/** The headers of a message by lower-case name, as provided by Node. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>

/** The first value of a header; undefined if it is missing. */
export function headerText(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
