import { randomBytes } from 'node:crypto'

/** Creates an unguessable key that contains the day (UTC) of `now`. */
export function newKey(now: Date): string {
  return `${dayOf(now)}/${randomBytes(16).toString('hex')}`
}

/**
 * Clients send keys back in links, so only a text that is a valid key may become a path or an object name.
 */
export function isKey(text: string): boolean {
  return /^\d{4}-\d\d-\d\d\/[0-9a-f]{32}$/.test(text)
}

/** Formats a day as `YYYY-MM-DD` (UTC). Days can be compared as text. */
export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10)
}

export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text)
}
