import { tableOf } from '../table.ts'
import type { FunctionLength } from './functions.ts'
import type { Room, Weight } from './weigh.ts'

const functionsShown = 15
const fanOutsShown = 10
/** A function that has more lines is long. */
const longFrom = 70

/** What `npm run weight` prints; with `before`, the weight of a commit, also its numbers and the difference. */
export function tablesOf(now: Weight, before?: Weight): string {
  return [roomsOf(now, before), functionsOf(now, before), fanOutsOf(now, before)].join('\n\n')
}

function roomsOf(now: Weight, before: Weight | undefined): string {
  const lineOf = (room: Room, was: Room | undefined): string[] => {
    const { name, files, lines, median, p90 } = room
    if (before === undefined) return [name, count(files), count(lines), count(median), count(p90)]
    const { files: filesWere, lines: linesWere, median: medianWas, p90: p90Was } = was ?? none(name)
    return [
      name,
      ...[count(files), count(filesWere), change(files - filesWere)],
      ...[count(lines), count(linesWere), change(lines - linesWere)],
      ...[count(median), count(medianWas)],
      ...[count(p90), count(p90Was)],
    ]
  }
  const linesOf = (rooms: readonly Room[], were: readonly Room[] = []) =>
    rooms.map((room) =>
      lineOf(
        room,
        were.find(({ name }) => name === room.name),
      ),
    )
  const left = (before?.rooms ?? []).filter(({ name }) => now.rooms.every((room) => room.name !== name))
  const head =
    before === undefined
      ? ['room', 'files', 'lines', 'median', 'p90']
      : ['room', 'files', 'was', '+/-', 'lines', 'was', '+/-', 'median', 'was', 'p90', 'was']
  return tableOf(
    [
      head,
      ...linesOf([...now.rooms, ...left.map(({ name }) => none(name))], before?.rooms),
      [''],
      lineOf(now.total, before?.total),
      ...linesOf(now.apart, before?.apart),
    ],
    (column) => column > 0,
  )
}

const none = (name: string): Room => ({ name, files: 0, lines: 0, median: 0, p90: 0 })

function functionsOf(now: Weight, before: Weight | undefined): string {
  const were = before && numbered(before.functions)
  const shown = numbered(now.functions)
  const rows = [...shown].slice(0, functionsShown).map(([key, { name, file, line, lines }]) => {
    const was = were?.get(key)
    return [
      count(lines),
      ...(were === undefined ? [] : [was === undefined ? 'none' : count(was.lines)]),
      name.length > 40 ? `${name.slice(0, 37)}...` : name,
      `${file}:${line}`,
    ]
  })
  const head = ['lines', ...(were === undefined ? [] : ['was']), 'function', 'where']
  return [
    `The ${rows.length} longest functions of ${compared(now.functions.length, before?.functions.length)}; ` +
      `longer than ${longFrom} lines: ${compared(longIn(now), before && longIn(before))}`,
    tableOf([head, ...rows], (column) => column < head.length - 2),
  ].join('\n')
}

/** By file and name, and a number where a file has several of the name. Lines do not serve: they move with what is above. */
function numbered(functions: readonly FunctionLength[]): Map<string, FunctionLength> {
  const found = new Map<string, FunctionLength>()
  for (const one of functions) {
    let nth = 1
    while (found.has(`${one.file} ${one.name} ${nth}`)) nth++
    found.set(`${one.file} ${one.name} ${nth}`, one)
  }
  return found
}

function longIn({ functions }: Weight): number {
  return functions.filter(({ lines }) => lines > longFrom).length
}

function fanOutsOf(now: Weight, before: Weight | undefined): string {
  const were = before && new Map(before.fanOuts.map(({ file, imports }) => [file, imports]))
  const rows = now.fanOuts.slice(0, fanOutsShown).map(({ file, imports }) => {
    const was = were?.get(file)
    return [count(imports), ...(were === undefined ? [] : [was === undefined ? 'none' : count(was)]), file]
  })
  const head = ['files', ...(were === undefined ? [] : ['was']), 'imported by']
  return [
    `The ${rows.length} highest fan-outs`,
    tableOf([head, ...rows], (column) => column < head.length - 1),
  ].join('\n')
}

function compared(now: number, before: number | undefined): string {
  return before === undefined ? count(now) : `${count(now)} (was ${count(before)})`
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

/** Empty for none, so that what has changed is seen at once. */
function change(value: number): string {
  return value === 0 ? '' : `${value > 0 ? '+' : '-'}${count(Math.abs(value))}`
}
