const whole = new Intl.NumberFormat()
const percents = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })

/** `128,402`. */
export function count(value: number): string {
  return whole.format(value)
}

/** `812`, `12.4k`, `84.1M`: for tokens and bytes in columns, with the exact number on hover. */
export function short(value: number): string {
  if (Math.abs(value) < 1_000) return whole.format(value)
  const [size, unit] =
    Math.abs(value) < 999_950 ? [1e3, 'k'] : Math.abs(value) < 999_950_000 ? [1e6, 'M'] : [1e9, 'B']
  return `${new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 }).format(value / size)}${unit}`
}

/** Of a whole: `0.8 %`, and `< 0.1 %` for what is not nothing. */
export function share(part: number, of: number): string {
  if (of === 0) return percents.format(0)
  const value = part / of
  return value > 0 && value < 0.0005 ? `< ${percents.format(0.001)}` : percents.format(value)
}

/** `840 ms`, `12.3 s`, `4 min 10 s`, `3 h 20 min`, `2 d 4 h`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000)
    return `${new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 }).format(ms / 1_000)} s`
  const steps = [
    { size: 60_000, unit: 'min', lesser: 1_000, least: 's' },
    { size: 3_600_000, unit: 'h', lesser: 60_000, least: 'min' },
    { size: 86_400_000, unit: 'd', lesser: 3_600_000, least: 'h' },
  ]
  const step = steps.findLast(({ size }) => ms >= size) ?? steps[0]
  if (step === undefined) return ''
  const major = Math.floor(ms / step.size)
  const minor = Math.floor((ms % step.size) / step.lesser)
  return minor === 0 ? `${major} ${step.unit}` : `${major} ${step.unit} ${minor} ${step.least}`
}

/** `14 KB`, `1.2 MB`. */
export function bytes(size: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  const power = size < 1 ? 0 : Math.min(Math.floor(Math.log(size) / Math.log(1_024)), units.length - 1)
  const value = size / 1_024 ** power
  return `${new Intl.NumberFormat(undefined, { maximumFractionDigits: power === 0 || value >= 100 ? 0 : 1 }).format(value)} ${units[power]}`
}
