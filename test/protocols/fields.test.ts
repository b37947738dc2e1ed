import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import type { Json } from '../../src/canonical/json.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { clientSide, protocols, upstreamSide } from '../../src/protocols/index.ts'
import type { ProtocolName } from '../../src/protocols/protocol.ts'
import { chatFields } from './every-chat-field.ts'
import type { Field } from './every-field.ts'
import { messagesFields } from './every-messages-field.ts'
import { responsesFields } from './every-responses-field.ts'

/** Nothing vanishes: every documented field, in every direction, is mapped, reported or refused. */

const clients = [
  ['openai-chat', chatFields],
  ['openai-responses', responsesFields],
  ['anthropic-messages', messagesFields],
] as const satisfies readonly [ProtocolName, Field[]][]
const upstreams = Object.values(protocols)
  .filter(({ upstream }) => upstream !== undefined)
  .map(({ name }) => name)
const envelope = makeEnvelope(Buffer.alloc(32))

for (const [client, fields] of clients) {
  describe.each(upstreams.filter((name) => name !== client))(`${client} to %s`, (upstream) => {
    test.each(fields)('$name does not vanish', (field) => {
      expect(fateOf(client, upstream, field)).not.toBe('vanished')
    })
  })
}

test('docs/reference/translation.md is the table of what becomes of every field', async () => {
  await expect(documentText()).toMatchFileSnapshot('../../docs/reference/translation.md')
})

type Fate = 'mapped' | 'clamped' | 'emulated' | 'defaulted' | 'dropped' | 'refused' | 'vanished'

/** What becomes of the one member by which two requests differ. */
function fateOf(client: ProtocolName, upstream: ProtocolName, field: Field): Fate {
  const without = translate(client, upstream, field.without)
  if (without instanceof GatewayError) throw without
  const changed = translate(client, upstream, field.with)
  if (changed instanceof GatewayError) {
    expect(changed.field, `${field.name}: ${changed.message}`).toBeDefined()
    expect(changed.message).toContain(changed.field)
    return 'refused'
  }
  const own = changed.notes.filter((note) => !without.notes.some((other) => isDeepStrictEqual(note, other)))
  for (const action of ['dropped', 'emulated', 'clamped', 'defaulted'] as const) {
    if (own.some((note) => note.action === action)) return action
  }
  return own.length > 0 || !isDeepStrictEqual(changed.body, without.body) ? 'mapped' : 'vanished'
}

function translate(client: ProtocolName, upstream: ProtocolName, body: Json) {
  try {
    const request = clientSide(client).decodeRequest(body, { envelope })
    return upstreamSide(upstream).encodeRequest(request, {
      upstreamModel: 'upstream-model',
      maxOutputTokensDefault: 4096,
    })
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
}

function documentText(): string {
  const tables = clients.map(([client, fields]) => {
    const columns = upstreams.filter((name) => name !== client)
    const rows = fields.map((field) => [
      `\`${field.name}\``,
      ...columns.map((upstream) => fateOf(client, upstream, field)),
    ])
    return `## From \`${client}\`\n\n${table(['field', ...columns.map((name) => `to \`${name}\``)], rows)}\n`
  })
  return `${introduction}\n${tables.join('\n')}`
}

function table(head: string[], rows: string[][]): string {
  const widths = head.map((cell, column) =>
    Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join(
    '\n',
  )
}

const introduction = `# Translation

A channel that speaks the client's format gets the client's own bytes: nothing on this page applies to it. Any other
channel gets a translation. This page says what becomes of each documented field of a request, one at a time. The tables
are made by \`test/protocols/fields.test.ts\` from the code itself, and the test fails when they differ
(\`npm test -- test/protocols/fields.test.ts -u\` writes them anew).

- **mapped**: said in the words of the other format.
- **emulated**: done by other means, such as an instruction.
- **clamped**, **defaulted**: another value, or one that the client did not give.
- **dropped**: left out; the answer is as good without it. With \`x-tollgate-strict: true\` this is a 400.
- **refused**: a 400 that names the field, because leaving it out would change what was asked for. Where another channel
  of the model can say it, that one is used.

All but plain mappings are in the row's \`notes\` with the reason, and in short in the header \`x-tollgate-translation\`. A
field that no table has is dropped and noted. An answer keeps all that the client's format can say: text, refusals,
reasoning with its signature ([how](../decisions/0014-reasoning-in-signed-envelopes.md)), tool calls, citations, stop reasons, usage with
its parts, and errors. \`POST /v1/translate\` shows what becomes of a request of yours, and calls nobody.

Reasoning of one vendor travels through clients of another format in signed envelopes, and goes back only to the model that
thought it. Which channel is asked, when several could answer, stands in [routing](routing.md).
`
