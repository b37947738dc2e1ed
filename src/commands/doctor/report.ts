import { areas, type Finding, type FindingVerdict } from '../../canonical/finding.ts'

const signs: Readonly<Record<FindingVerdict, string>> = { well: '✓', warning: '!', wrong: '✗', skipped: '-' }
const colours = { well: 'green', warning: 'yellow', wrong: 'red', skipped: 'grey' } as const
type Colour = (typeof colours)[FindingVerdict] | 'bold'

/** How a report is displayed. */
interface Look {
  columns: number
  paint(text: string, colour: Colour): string
}

/** The width of the sign and the verdict before each text. */
const margin = 13

/**
 * Formats the findings by area. A positive finding takes one line; all others also show the reason, the
 * remedy and where to read more.
 */
export function reportLines(findings: readonly Finding[], look: Look): string[] {
  const shown = areas.flatMap((area) => {
    const own = findings.filter((finding) => finding.area === area)
    return own.length === 0
      ? []
      : [look.paint(heading(area), 'bold'), ...own.flatMap((one) => linesOf(one, look)), '']
  })
  return [...shown, summaryOf(findings, look)]
}

function linesOf({ verdict, what, why, fix, run, docs }: Finding, look: Look): string[] {
  const head = look.paint(`${signs[verdict]} ${verdict}`.padEnd(margin - 2), colours[verdict])
  const [first = '', ...others] = wrapped(what, look.columns - margin)
  const indent = ' '.repeat(margin)
  const more = (label: string, text: string | undefined) =>
    text === undefined
      ? []
      : wrapped(text, look.columns - margin - 4).map(
          (line, at) => `${indent}${look.paint(at === 0 ? label.padEnd(4) : '    ', 'grey')}${line}`,
        )
  return [
    `  ${head}${first}`,
    ...others.map((line) => indent + line),
    ...more('why', why),
    ...more('do', fix),
    ...(run === undefined ? [] : [`${indent}${look.paint('run', 'grey')} ${run}`]),
    ...more('see', docs),
  ]
}

/**
 * Wraps a text between words. Words longer than a line, such as addresses, stay whole so that they can be
 * copied.
 */
function wrapped(text: string, columns: number): string[] {
  const lines = ['']
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && last.length + 1 + word.length > columns) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}

function summaryOf(findings: readonly Finding[], look: Look): string {
  const count = (verdict: FindingVerdict) => findings.filter((finding) => finding.verdict === verdict).length
  const [wrong, warnings, skipped] = [count('wrong'), count('warning'), count('skipped')]
  const text = [
    wrong === 0 ? 'nothing is wrong' : `${wrong} wrong`,
    ...(warnings === 0 ? [] : [`${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`]),
    ...(skipped === 0 ? [] : [`${skipped} not checked`]),
  ].join(', ')
  return look.paint(heading(text), wrong > 0 ? 'red' : warnings > 0 ? 'yellow' : 'green')
}

function heading(text: string): string {
  return text.startsWith('gateway.yaml') ? text : `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}
