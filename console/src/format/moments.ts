/** How far the reader's clock is from UTC, such as `UTC+2`, at this moment. */
export function zoneName(at: Date = new Date()): string {
  const minutes = -at.getTimezoneOffset()
  if (minutes === 0) return 'UTC'
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`
}

/** `14:02:11.382` on the reader's clock. */
export function clock(at: Date, withMillis = true): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
  return withMillis ? `${time}.${String(at.getMilliseconds()).padStart(3, '0')}` : time
}

/** `Nov 24`, with the year where it is another one. */
export function day(at: Date, now: Date = new Date()): string {
  const text = at.toLocaleDateString(undefined, {
    month: 'short',
    day: 'numeric',
    ...(at.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' }),
  })
  // Isolated: without it, what comes after the name of an Arabic month moves between it and its day.
  return /[\u0590-\u08ff]/.test(text) ? `\u2068${text}\u2069` : text
}

export function isSameDay(a: Date, b: Date): boolean {
  return a.toDateString() === b.toDateString()
}

/** `Nov 24, 14:02:11`: where a moment appears alone. */
export function moment(at: Date, now: Date = new Date()): string {
  return `${day(at, now)}, ${clock(at, false)}`
}

/** `2026-11-24 12:02:11.382 UTC`: for a hover, and for copies. */
export function inUtc(at: Date): string {
  return `${at.toISOString().replace('T', ' ').replace('Z', '')} UTC`
}
