import { type FileKind, fileKinds } from '../../catalog/file-changes.ts'
import { type Plan, type PlanLine, planCounts } from '../../imports/plan.ts'
import type { ImportProblem } from '../../imports/problems.ts'

/** How a plan is shown on a terminal. */
export interface PlanLook {
  hasColour: boolean
  /** The number of characters per line; undefined means no limit. */
  columns: number | undefined
}

/** How many rows of each kind and how many problems are shown. `--json` shows all of them. */
const shownMax = 40

const actions = {
  create: { sign: '+', colour: 32 },
  change: { sign: '~', colour: 33 },
  skip: { sign: '=', colour: 90 },
  conflict: { sign: '!', colour: 31 },
} as const

const levels = {
  lost: { sign: '✗', colour: 31 },
  changed: { sign: '~', colour: 33 },
  note: { sign: 'i', colour: 90 },
} as const

/** Formats the plan as tables: what is written, what is not carried over unchanged, and the totals. */
export function planTable({ lines, problems }: Pick<Plan, 'lines' | 'problems'>, look: PlanLook): string {
  const tables = fileKinds.flatMap((kind) => {
    const rows = lines.filter((line) => line.kind === kind)
    return rows.length === 0 ? [] : [rowTable(kind, rows, look)]
  })
  return [...tables, problemTable(problems, look), sums(lines, problems, look)]
    .filter((text) => text !== '')
    .join('\n')
}

function rowTable(kind: FileKind, rows: readonly PlanLine[], look: PlanLook): string {
  const order = ['conflict', 'change', 'create', 'skip']
  const sorted = rows.toSorted((a, b) => order.indexOf(a.action) - order.indexOf(b.action))
  const counts = Object.entries(planCounts(rows)).filter(([, count]) => count > 0)
  const title = `${paint(kind, 1, look)}  ${counts.map(([action, count]) => `${count} ${action}`).join(', ')}`
  const width = Math.min(44, Math.max(...sorted.slice(0, shownMax).map(({ name }) => name.length)))
  const shown = sorted.slice(0, shownMax).map(({ action, name, reason }) => {
    const { sign, colour } = actions[action]
    const label = cut(name, width).padEnd(width)
    return `  ${paint(`${sign} ${action.padEnd(8)}`, colour, look)} ${label}  ${fitted(reason, width + 15, look)}`.trimEnd()
  })
  return [title, ...shown, ...rest(sorted.length), ''].join('\n')
}

function problemTable(problems: readonly ImportProblem[], look: PlanLook): string {
  if (problems.length === 0) return ''
  const order = ['lost', 'changed', 'note']
  const sorted = problems.toSorted((a, b) => order.indexOf(a.level) - order.indexOf(b.level))
  const width = Math.min(44, Math.max(...sorted.slice(0, shownMax).map(({ where }) => where.length)))
  const shown = sorted.slice(0, shownMax).map(({ level, where, what }) => {
    const { sign, colour } = levels[level]
    return `  ${paint(`${sign} ${level.padEnd(8)}`, colour, look)} ${cut(where, width).padEnd(width)}  ${fitted(what, width + 15, look)}`
  })
  return [paint('not carried over unchanged', 1, look), ...shown, ...rest(sorted.length), ''].join('\n')
}

function sums(lines: readonly PlanLine[], problems: readonly ImportProblem[], look: PlanLook): string {
  const { create, change, skip, conflict } = planCounts(lines)
  const lost = problems.filter(({ level }) => level === 'lost').length
  const text = `${create} to create, ${change} to change, ${skip} unchanged, ${conflict} conflicts; ${lost} not carried over\n`
  return paint(text.trimEnd(), conflict > 0 ? 31 : 1, look).concat('\n')
}

const rest = (count: number) =>
  count > shownMax ? [`  … ${count - shownMax} more; --json lists all of them`] : []

/** Wraps the text, indenting all lines after the first by `used` characters. */
function fitted(text: string, used: number, { columns }: PlanLook): string {
  const visible = plain(text)
  if (columns === undefined) return visible
  const width = Math.max(20, columns - used)
  const lines = ['']
  for (const word of visible.split(' ').flatMap((each) => piecesOf(each, width))) {
    const line = lines.at(-1) ?? ''
    const longer = line === '' ? word : `${line} ${word}`
    if (longer.length <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines.join(`\n${' '.repeat(used)}`)
}

function piecesOf(word: string, width: number): string[] {
  return word.match(new RegExp(`.{1,${width}}`, 'g')) ?? []
}

/** Replaces control characters, so that none of those in foreign names reach the terminal. */
function plain(text: string): string {
  return text.replace(/\p{C}/gu, '?')
}

function cut(text: string, width: number): string {
  const visible = plain(text)
  return visible.length > width ? `${visible.slice(0, width - 1)}…` : visible
}

function paint(text: string, colour: number, { hasColour }: PlanLook): string {
  return hasColour ? `\u001b[${colour}m${text}\u001b[0m` : text
}
