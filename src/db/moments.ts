/** The first and last moment that Postgres can parse in JavaScript's format: those of the years 1 to 9999. */
export const earliestMs = Date.parse('0001-01-01')
export const latestMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Also false for an invalid date. */
export function isKnownToPostgres(moment: Date): boolean {
  const ms = moment.getTime()
  return ms >= earliestMs && ms <= latestMs
}
