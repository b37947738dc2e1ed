import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { SeenSpan } from '../test/support/otlp.ts'
import { startTraced } from '../test/support/traced.ts'
import { chatStream, errorAnswer } from '../test/support/upstream-plans.ts'
import { startTemporary } from './temporary-postgres.ts'
import { helpIfAsked } from './usage.ts'

helpIfAsked(import.meta.filename)

/**
 * The trace of one streamed request whose first channel fails, as a waterfall: `npm run screenshots:trace`. A real gateway exports it by
 * OTLP to a collector of this script, which writes docs/images/traces/streamed-retried.svg.
 */
const folder = resolve(import.meta.dirname, '../docs/images/traces')

const postgres = await startTemporary()
const traced = await startTraced({ TRACE_CONTENT: 'none' }, postgres.url)
traced.upstream.script((request) =>
  request.model === 'error-500'
    ? { ...errorAnswer(500, { type: 'server_error', message: 'The server had an error.' }), delayMs: 120 }
    : { ...chatStream(request, { tokens: 20, paceMs: 20 }), delayMs: 90 },
)
const ask = async () => {
  const answer = await traced.post(
    '/v1/messages',
    { model: 'retried', max_tokens: 100, stream: true, messages: [{ role: 'user', content: 'Hello' }] },
    { headers: { 'anthropic-version': '2023-06-01' }, key: 'key-of-a-tenant-with-money1' },
  )
  await answer.text()
  return answer.headers.get('x-request-id') ?? ''
}
// The first requests of a process wait for code to be loaded.
for (let each = 0; each < 3; each++) await ask()
const spans = await traced.collector.traceOf(await ask())
await mkdir(folder, { recursive: true })
await writeFile(join(folder, 'streamed-retried.svg'), waterfall(spans))
await traced.close()
await postgres.stop()

function waterfall(spans: readonly SeenSpan[]): string {
  const [root] = spans
  if (root === undefined) throw new Error('no trace came')
  const left = 230
  const width = 700
  const rowHeight = 26
  const top = 52
  const height = top + spans.length * rowHeight + 34
  const totalMs = msBetween(root.start, root.end)
  const at = (time: bigint) => left + (msBetween(root.start, time) / totalMs) * width
  const rows = spans.map((span, row) => {
    const y = top + row * rowHeight
    const x = at(span.start)
    const wide = Math.max(2, at(span.end) - x)
    const marks = span.events.map(
      ({ name, at: time }) =>
        `<g><title>${escaped(name)}</title><path d="M${at(time)} ${y + 4}l5 6l-5 6l-5 -6z" fill="#111827"/></g>`,
    )
    const ms = msBetween(span.start, span.end)
    const text = `${ms < 10 ? ms.toFixed(2) : ms.toFixed(0)} ms${noteOf(span)}`
    const isRight = x + wide + text.length * 6.2 > left + width + 150
    return [
      `<text x="${span === root ? 12 : 28}" y="${y + 15}"${span === root ? ' font-weight="600"' : ''}>${escaped(span.name)}</text>`,
      `<rect x="${x}" y="${y + 3}" width="${wide}" height="14" rx="2" fill="${colourOf(span)}"/>`,
      ...marks,
      `<text class="note" x="${isRight ? x + wide - 6 : x + wide + 8}" y="${y + 14}"${isRight ? ' text-anchor="end" fill="#fff"' : ''}>${escaped(text)}</text>`,
    ].join('\n')
  })
  const ticks = Array.from({ length: 6 }, (_, tick) => {
    const x = left + (width * tick) / 5
    return `<path d="M${x} ${top - 8}V${height - 28}" stroke="#e5e7eb"/><text class="note" x="${x}" y="${top - 14}" text-anchor="middle">${Math.round((totalMs * tick) / 5)} ms</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="1080" height="${height}" viewBox="0 0 1080 ${height}" font-family="system-ui, sans-serif" font-size="12" fill="#111827" role="img" aria-label="One streamed request, translated, whose first channel fails">
<style>.note { font-size: 11px } text:not([fill]).note { fill: #4b5563 }</style>
<rect width="1080" height="${height}" fill="#fff"/>
<text x="12" y="20" font-weight="600">One streamed request, translated, whose first channel fails</text>
${ticks.join('\n')}
${rows.join('\n')}
<text class="note" x="12" y="${height - 10}">blue: the request · green: a call of an upstream · red: one that failed · grey: a step · diamonds: first byte, first token</text>
</svg>
`
}

function noteOf({ kind, attributes, isError }: SeenSpan): string {
  if (kind !== 'client') return ''
  const status = attributes['http.response.status_code']
  return ` · ${attributes['tollgate.channel']} · ${status}${isError ? ` ${attributes['error.type']}` : ''}`
}

function colourOf({ kind, isError }: SeenSpan): string {
  if (isError) return '#dc2626'
  return { server: '#2563eb', client: '#16a34a' }[kind as string] ?? '#9ca3af'
}

function msBetween(from: bigint, to: bigint): number {
  return Number(to - from) / 1e6
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (found) => `&#${found.charCodeAt(0)};`)
}
