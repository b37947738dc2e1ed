/** The headers of a message by their lower-case names, as Node gives them. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>

/** The first value of a header; undefined where there is none. */
export function headerText(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
