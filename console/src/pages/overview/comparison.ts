import { count, duration } from '../../format/numbers.ts'
import type { Terms } from './overview-query.ts'

/** How long the time of the page is: `24 h`, `7 days`, `15 min`. */
export function spanWords({ from, to }: Pick<Terms, 'from' | 'to'>): string {
  const ms = new Date(to).getTime() - new Date(from).getTime()
  const minutes = Math.round(ms / 60_000)
  if (minutes < 1) return duration(ms)
  if (minutes % 60 !== 0) return duration(minutes * 60_000)
  const hours = minutes / 60
  return hours < 48 || hours % 24 !== 0 ? `${count(hours)} h` : `${count(hours / 24)} days`
}

/** `+12%`, `vs previous 24 h`: two lines of a card. */
export function changeOf(now: number, before: number, span: string): { more: string; before: string } {
  if (before === 0) return { more: now === 0 ? '\u00a0' : 'new', before: `none in previous ${span}` }
  const change = (now - before) / before
  const words = new Intl.NumberFormat(undefined, {
    style: 'percent',
    maximumFractionDigits: 0,
    signDisplay: 'exceptZero',
  })
  return { more: words.format(change), before: `vs previous ${span}` }
}
