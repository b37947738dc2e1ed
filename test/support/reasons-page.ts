import { isReason } from '../../src/canonical/reasons/catalogue.ts'
import type { ReasonEntry } from '../../src/canonical/reasons/entry.ts'
import { kinds } from '../../src/canonical/reasons/kinds.ts'

type Parts = readonly [string, Readonly<Record<string, ReasonEntry>>][]

/**
 * docs/reference/reasons.md, from the catalogue. `parts`: heading and reasons of each section. `runbook`: what
 * `runbookReasons` finds.
 */
export function reasonsPage(parts: Parts, runbook: ReadonlyMap<string, string>): string {
  const sections = parts.map(([title, reasons]) => [
    `## ${title}`,
    ...Object.entries(reasons).map(([reason, entry]) => entryOf(reason, entry, runbook.get(reason))),
  ])
  return `${[intro, ...sections.flat()].join('\n\n')}\n`
}

/** The reasons of the runbook's table, each with the anchor of what an operator reads there. */
export function runbookReasons(runbook: string): Map<string, string> {
  const rows = runbook.matchAll(/^\| \[(\w+)\]\(reference\/reasons\.md#\1\) +\| \[.+\]\(#(.+)\) +\|$/gm)
  return new Map([...rows].map(([, reason = '', anchor = '']) => [reason, anchor]))
}

const intro = `# Reasons

Find the reason of your error below: its entry begins with what to do, for who sent the request and for who runs the gateway.
Each refusal or failure that Tollgate reports has a reason: one stable word. The message may be reworded, the reason stays.
A client reads it in the header \`x-tollgate-reason\`, and in \`error.code\` where no vendor's SDK acts on another word.
The usage log has it as \`error.reason\`, the log as \`reason\`, the metric \`tollgate_request_errors_total\` as a label.
\`tollgate logs find error_reason=WORD\` finds the requests. This page is made from the catalogue in \`src/canonical/reasons\`.

What each kind means for a client is in [errors](errors.md).`

function entryOf(
  reason: string,
  { kind, code, says, client, operator }: ReasonEntry,
  anchor: string | undefined,
): string {
  const word = code === undefined ? '' : `, code \`${code}\``
  const more = anchor === undefined ? [] : [`[Runbook](../runbook.md#${anchor}).`]
  const forOperator = [...(operator === undefined ? [] : [linked(operator)]), ...more].join(' ')
  return [
    `### ${reason}`,
    `- **Client:** ${client}.${forOperator === '' ? '' : `\n- **Operator:** ${forOperator}`}`,
    `\`${kind}\`, ${kinds[kind].status}${word}: ${escaped(sampleOf(says))}`,
  ].join('\n\n')
}

/** Other reasons lead to their entries, and names of documents to the documents. */
const linked = (text: string) =>
  text
    .replace(/`([a-z_]+)`/g, (quoted, word) => (isReason(word) ? `[${word}](#${word})` : quoted))
    .replace(/docs\/reference\/([\w-]+)\.md/g, '[$1]($1.md)')

/** The message, with the name of each fact in its place. */
export function sampleOf(says: ReasonEntry['says']): string {
  if (typeof says === 'string') return says
  return says(new Proxy({}, { get: (_, name) => `{${String(name)}}` }))
}

const escaped = (text: string) => text.replace(/[<>*_|[\]]/g, '\\$&')
