import type { ReasonEntry } from '../../src/canonical/reasons/entry.ts'
import { kinds } from '../../src/canonical/reasons/kinds.ts'

/** docs/reference/reasons.md, from the catalogue. `parts`: heading and reasons of each section. */
export function reasonsPage(parts: readonly [string, Readonly<Record<string, ReasonEntry>>][]): string {
  return `${[intro, ...parts.map(([title, reasons]) => partOf(title, reasons))].join('\n\n')}\n`
}

const intro = `# Reasons

Each refusal or failure that Tollgate reports has a reason: one stable word. The message may be reworded, the reason stays.
A client reads it in the header \`x-tollgate-reason\`, and in \`error.code\` where no vendor's SDK acts on another word.
The usage log has it as \`error.reason\`, the log as \`reason\`, the metric \`tollgate_request_errors_total\` as a label.
\`tollgate logs find error_reason=WORD\` finds the requests. This page is made from the catalogue in \`src/canonical/reasons\`.

What each kind means for a client is in [errors](errors.md).`

function partOf(title: string, reasons: Readonly<Record<string, ReasonEntry>>): string {
  return [`## ${title}`, ...Object.entries(reasons).map(([reason, entry]) => entryOf(reason, entry))].join(
    '\n\n',
  )
}

function entryOf(reason: string, { kind, code, says, client, operator }: ReasonEntry): string {
  const word = code === undefined ? '' : `, code \`${code}\``
  return [
    `### ${reason}`,
    `\`${kind}\`, ${kinds[kind].status}${word}: ${escaped(sampleOf(says))}`,
    ['', `**Client:** ${client}.`, ...(operator === undefined ? [] : [`**Operator:** ${operator}`])]
      .map((line) => (line === '' ? '' : `- ${line}`))
      .join('\n')
      .trim(),
  ].join('\n\n')
}

/** The message, with the name of each fact in its place. */
export function sampleOf(says: ReasonEntry['says']): string {
  if (typeof says === 'string') return says
  return says(new Proxy({}, { get: (_, name) => `{${String(name)}}` }))
}

const escaped = (text: string) => text.replace(/[<>*_|[\]]/g, '\\$&')
