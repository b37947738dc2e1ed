import { areas, type Finding, type FindingVerdict } from './finding.ts'

const signs: Readonly<Record<FindingVerdict, string>> = { well: '✓', warning: '!', wrong: '✗', skipped: '-' }
const colours = { well: 'green', warning: 'yellow', wrong: 'red', skipped: 'grey' } as const
type Colour = (typeof colours)[FindingVerdict] | 'bold'

/** How a report is shown. */
interface Look {
  columns: number
  paint(text: string, colour: Colour): string
}

/** The columns before each text: sign and verdict. */
const margin = 13

/** Area by area. What is well takes a line; all else also says why, what to do, and where to read on. */
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

/** A word that is longer than a line, such as an address, is not cut: it is there to be copied. */
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
    ...(skipped === 0 ? [] : [`${skipped} not looked at`]),
  ].join(', ')
  return look.paint(heading(text), wrong > 0 ? 'red' : warnings > 0 ? 'yellow' : 'green')
}

function heading(text: string): string {
  return text.startsWith('gateway.yaml') ? text : `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}
