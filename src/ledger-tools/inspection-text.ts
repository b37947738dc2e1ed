import { counted } from '../canonical/counted.ts'
import type { DamagedFrame } from '../journal/damaged-frames.ts'
import type { SetAsideFolder } from '../journal/set-aside-folders.ts'
import { usd } from '../money/price.ts'
import type { JournalInspection } from './inspect-journal.ts'
import { type Inspection, type JournalInPostgres, tenantOf } from './inspection.ts'

const width = 100
const indent = '  '.padEnd(12)

/** The inspection as text, for a terminal of 100 columns. */
export function inspectionText(inspection: Inspection): string {
  const { folder, journals, setAside, filesOnly } = inspection
  const waiting = setAside.filter(({ replayedAt }) => replayedAt === undefined)
  const replayed = setAside.length - waiting.length
  const lines = [
    folder,
    `${counted(journals.length, 'journal')}, ${counted(waiting.length, 'frame')} set aside${replayed === 0 ? '' : `, ${replayed} more put back since`}`,
    ...(filesOnly === null ? [] : wrapped(`Files only, without Postgres: ${filesOnly}`, '')),
  ]
  for (const journal of journals) lines.push('', ...journalLines(journal))
  for (const one of setAside) lines.push('', ...setAsideLines(one))
  return `${lines.join('\n')}\n`
}

function journalLines(journal: JournalInspection & { postgres: JournalInPostgres | null }): string[] {
  const { segments, bytes, frames, rowsComplete, rowsOpen, columns, postgres, tailBytes } = journal
  const [first, last] = [segments.at(0)?.segment, segments.at(-1)?.segment]
  return [
    `journal ${journal.instance}`,
    ...field('process', owners[journal.owner]),
    ...field(
      'segments',
      `${segments.length}${first === undefined ? '' : ` (${first} to ${last})`}, ${sizeOf(bytes)}, ${counted(frames, 'frame')}`,
    ),
    ...field('rows', `${rowsComplete} complete, ${rowsOpen} open`),
    ...(columns.layout === 'own' ? [] : field('columns', columnsText(columns))),
    ...(postgres === null ? [] : field('Postgres', postgresText(postgres))),
    ...(journal.shippedAt === null ? [] : field('shipped', `completely, at ${journal.shippedAt}`)),
    ...(tailBytes === 0
      ? []
      : field('tail', `${tailBytes} bytes of an incomplete frame: being written, or cut off by a crash`)),
    ...journal.damaged.flatMap(({ segment, at, bytes, frames }) => [
      ...field('DAMAGED', `segment ${segment}, bytes ${at} to ${at + bytes}:`),
      ...frames.flatMap((frame) => wrapped(damagedText(frame), indent)),
    ]),
    ...(journal.error === null ? [] : field('ERROR', journal.error)),
  ]
}

const owners = {
  alive: 'running on this machine',
  dead: 'has ended; another process on this machine will adopt the journal',
  elsewhere:
    'on another machine, or in another container or boot: only its heartbeat shows whether it is running',
} as const

function columnsText({ unknown, missing }: JournalInspection['columns']): string {
  return [
    'from another release',
    ...(unknown.length === 0 ? [] : [`unknown to this release: ${unknown.join(', ')}`]),
    ...(missing.length === 0 ? [] : [`missing in the journal: ${missing.join(', ')}`]),
  ].join('; ')
}

function postgresText({ state, heartbeatAt, segment, position, unshippedBytes }: JournalInPostgres): string {
  const process = state === null ? 'does not know the process' : `${state}, heartbeat ${heartbeatAt}`
  const has = segment === null ? '' : `, has segment ${segment} up to ${position}`
  return `${process}${has}; ${unshippedBytes === 0 ? 'everything is shipped' : `${sizeOf(unshippedBytes)} not shipped`}`
}

function setAsideLines(one: SetAsideFolder & { tenantName: string | null }): string[] {
  const { id, content, replayedAt, reason } = one
  const [tenant] = tenantOf(one)
  return [
    `${replayedAt === undefined ? 'set aside' : 'put back'} ${id}`,
    ...field('when', `${one.setAsideAt}${replayedAt === undefined ? '' : `, put back ${replayedAt}`}`),
    ...field('from', `journal ${one.instance}, segment ${one.segment}, byte ${one.at}, ${one.bytes} bytes`),
    ...(tenant === undefined ? [] : field('tenant', one.tenantName ?? tenant)),
    ...contentLines(content),
    ...field('why', reason),
  ]
}

function contentLines(content: SetAsideFolder['content']): string[] {
  switch (content.kind) {
    case 'row':
      return [
        ...field('request', `${content.request}, model ${String(content.row.requested_model ?? 'unknown')}`),
        ...field('charge', content.charge === undefined ? 'nothing' : `$${usd(content.charge.nano)}`),
      ]
    case 'body':
      return field('request', `${content.request}: only its body; its row was shipped without it`)
    case 'damaged':
      return content.frames.flatMap((frame) => field('damaged', damagedText(frame)))
    case 'unreadable':
      return field('ERROR', content.error)
  }
}

function damagedText({ at, bytes, kind, request, model }: DamagedFrame): string {
  const what =
    kind === undefined
      ? 'bytes that are not a known frame'
      : `apparently the ${kind === 'open' ? 'beginning' : 'end'} of`
  return [
    `at ${at}, ${bytes} bytes: ${what}${request === null ? '' : ` request ${request}`}`,
    ...(model === null ? [] : [`model ${model}`]),
  ].join(', ')
}

function field(name: string, text: string): string[] {
  const [first = '', ...rest] = wrapped(text, indent)
  return [`  ${name}`.padEnd(indent.length) + first.slice(indent.length), ...rest]
}

/** Breaks the text into lines of at most `width` characters, splitting longer words. */
function wrapped(text: string, before: string): string[] {
  const room = width - before.length
  const lines: string[] = []
  let line = ''
  const words = plain(text)
    .split(' ')
    .flatMap((word) => word.match(new RegExp(`.{1,${room}}`, 'gu')) ?? [])
  for (const word of words) {
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(before + line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, before + line]
}

/** Makes text from clients safe to print: no character may move the terminal's cursor. */
function plain(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/\p{C}/gu, '\u{fffd}')
}

function sizeOf(bytes: number): string {
  if (bytes < 10_240) return `${bytes} bytes`
  return bytes < 10_485_760 ? `${(bytes / 1024).toFixed(0)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`
}
