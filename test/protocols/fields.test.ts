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
import { answersText } from './translated-answers.ts'

/** No field vanishes: every documented field, in every direction, is mapped, reported or refused. */

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

test('docs/reference/translation.md shows the fate of every field', async () => {
  await expect(documentText()).toMatchFileSnapshot('../../docs/reference/translation.md')
})

type Fate = 'mapped' | 'clamped' | 'emulated' | 'defaulted' | 'dropped' | 'refused' | 'vanished'

/** The fate of the one member in which two requests differ. */
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
      traits: {},
      maxOutputTokensDefault: 4096,
    })
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
}

function documentText(): string {
  const sections = clients.map(([client, fields]) => {
    const columns = upstreams.filter((name) => name !== client)
    const documented = fields.filter(({ name }) => name !== 'made_up_by_tomorrow')
    const rows = documented.map((field) => ({
      name: `\`${field.name}\``,
      fates: columns.map((upstream) => fateOf(client, upstream, field)),
    }))
    const differing = rows.filter(({ fates }) => new Set(fates).size > 1)
    const lists = (['mapped', 'dropped', 'refused'] as const).flatMap((fate) => {
      const names = rows.filter(({ fates }) => fates.every((own) => own === fate)).map(({ name }) => name)
      return names.length === 0 ? [] : [wrapped(`**${fate}** everywhere: ${names.join(', ')}.`)]
    })
    const head = ['field', ...columns.map((name) => `to \`${name}\``)]
    const differences = table(
      head,
      differing.map(({ name, fates }) => [name, ...fates]),
    )
    return [`## From \`${client}\``, ...lists, differences].join('\n\n')
  })
  return `${[introduction, ...sections, answersText].join('\n\n')}\n`
}

/** Lines of at most 120 characters, without a break inside code. */
function wrapped(text: string): string {
  const lines = ['']
  for (const word of text.match(/`[^`]*`\S*|\S+/g) ?? []) {
    const line = lines.at(-1) ?? ''
    if (line !== '' && line.length + 1 + word.length > 120) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.join('\n')
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

A channel that speaks the client's format gets the client's own bytes, and this page says nothing about it. Any other
channel gets a translation. This page says what becomes of each documented field of a request, one field at a time.
\`test/protocols/fields.test.ts\` makes the lists and tables from the code and fails when they differ
(\`npm test -- test/protocols/fields.test.ts -u\` writes them anew).

- **mapped**: the other format says the same in its own words.
- **emulated**: done by other means, such as an instruction in the system prompt.
- **clamped**, **defaulted**: the upstream gets another value, or one that the client did not give.
- **dropped**: left out; the answer is as good without it. With \`x-tollgate-strict: true\` this is a 400.
- **refused**: a 400 that names the field, because the answer would not be what the client asked for. If another channel
  of the model can take the field, the gateway uses that channel.

A field that this page does not list is dropped. The usage log notes every field that is not simply mapped; the header
\`x-tollgate-translation\` has these notes in short.

[Answers](#answers) carry all that the client's format can say: text, refusals, reasoning with its
[signature](../decisions/0014-reasoning-in-signed-envelopes.md), tool calls, citations, stop reasons, errors, and usage with
its parts. \`POST /v1/translate\` shows what becomes of a request of yours, and calls nobody.

Reasoning of one vendor travels through clients of another format in signed envelopes, and goes back only to the model that
thought it. Which channel is asked, when several could answer, stands in [routing](routing.md).`
