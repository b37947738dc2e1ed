import type { CheckVerdict } from './format.ts'
import { faultsOf, type Line, type Report, type Section, verdictCounts } from './report.ts'

/** How findings are shown on a terminal. */
export interface TableLook {
  hasColour: boolean
  /** The number of characters per line; undefined means no limit. */
  columns: number | undefined
}

const marks: Readonly<Record<CheckVerdict, { sign: string; colour: number }>> = {
  ok: { sign: '✓', colour: 32 },
  refused: { sign: '–', colour: 33 },
  ignored: { sign: '~', colour: 33 },
  broken: { sign: '✗', colour: 31 },
  unknown: { sign: '?', colour: 90 },
}

const nameWidth = 30
const verdictWidth = 9

/** Formats the table of one format. */
export function sectionTable({ title, served, checks }: Section, look: TableLook): string {
  if (checks.length === 0) return ''
  const note = served ? '' : '  not served, so nothing else was checked'
  return `\n${coloured(title, 1, look)}${note}\n${checks.map((line) => `${rowOf(line, look)}\n`).join('')}`
}

function rowOf({ name, must, verdict, detail }: Line, look: TableLook): string {
  const { sign, colour } = marks[verdict]
  const width = look.columns === undefined ? detail.length : look.columns - nameWidth - verdictWidth - 6
  const shown = detail.length > Math.max(width, 20) ? `${detail.slice(0, Math.max(width, 20) - 1)}…` : detail
  const label = `${name}${must ? ' *' : ''}`.padEnd(nameWidth)
  return `  ${coloured(sign, colour, look)} ${label}${coloured(verdict.padEnd(verdictWidth), colour, look)} ${shown}`.trimEnd()
}

/** Formats the last lines of a run. */
export function reportSummary({ sections, calls, ms, interrupted }: Report, look: TableLook): string {
  const counts = Object.entries(verdictCounts(sections)).map(([verdict, count]) => `${count} ${verdict}`)
  const numbers = `${counts.join(', ')}: ${calls} calls in ${(ms / 1000).toFixed(1)} s`
  const faults = faultsOf(sections)
  const formats = sections.filter(({ id }) => id !== 'service')
  const missing = formats.filter(({ served }) => !served).map(({ title }) => title)
  const lines = [`\n${numbers}`]
  if (faults.length > 0) lines.push(coloured(`Failed: ${faults.join('; ')}.`, 31, look))
  else if (formats.some(({ served, checks }) => served && checks.length > 0))
    lines.push(coloured('All required checks (*) are ok, and nothing is broken.', 32, look))
  if (missing.length > 0) lines.push(`Not served for this model: ${missing.join(', ')}.`)
  if (interrupted) lines.push('Stopped. Only the checks completed before that are shown.')
  return `${lines.join('\n')}\n`
}

export function coloured(text: string, colour: number, { hasColour }: TableLook): string {
  return hasColour ? `\u001b[${colour}m${text}\u001b[0m` : text
}
