import { randomBytes } from 'node:crypto'

/** A key that nobody can guess, of the day (UTC) of this moment. */
export function newKey(now: Date): string {
  return `${dayOf(now)}/${randomBytes(16).toString('hex')}`
}

/** Keys come back from clients, in links: nothing else may become a path or a name in a bucket. */
export function isKey(text: string): boolean {
  return /^\d{4}-\d\d-\d\d\/[0-9a-f]{32}$/.test(text)
}

/** `YYYY-MM-DD` (UTC). Days compare as text. */
export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10)
}

export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text)
}
