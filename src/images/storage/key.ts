import { randomBytes } from 'node:crypto'

/** A key with the day (UTC) of `now` that cannot be guessed. */
export function newKey(now: Date): string {
  return `${dayOf(now)}/${randomBytes(16).toString('hex')}`
}

/** Clients send keys back, in links: only text that is a key may become a path or the name of an object. */
export function isKey(text: string): boolean {
  return /^\d{4}-\d\d-\d\d\/[0-9a-f]{32}$/.test(text)
}

/** `YYYY-MM-DD` (UTC). Days can be compared as text. */
export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10)
}

export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text)
}
