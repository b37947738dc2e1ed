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
import { searchesText } from './translated-searches.ts'
import { clientToolsText } from './translated-tools.ts'

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
    const lists = (['mapped', 'emulated', 'dropped', 'refused'] as const).flatMap((fate) => {
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
  return `${[introduction, toMessagesByModel, ...sections, clientToolsText, searchesText, answersText].join('\n\n')}\n`
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

const toMessagesByModel = `## To \`anthropic-messages\`, by the model

What is known about a model changes these tables for upstreams of this format, too. Each note names the model:

- **Sampling**: \`temperature\`, \`top_p\` and \`top_k\` are dropped for a model that refuses them.
- **Reasoning**: an effort or a budget becomes \`thinking: {type: adaptive}\` with \`output_config.effort\`, or
  \`thinking: {type: enabled, budget_tokens}\`, as the model takes it. An effort that the model does not have becomes the
  nearest one. For a model that always thinks, thinking is never turned off: it gets its lowest effort.
- **Schemas** of answers and of strict tools are rewritten to what the vendor takes. Bounds such as \`minimum\`, \`pattern\` or
  \`minItems: 2\` move into the description of their place, and a note lists them. A schema that the vendor cannot express
  (recursion, free keys, values of any type) becomes an instruction, which the model may disobey; a tool with such a schema
  loses \`strict\`. A union as the whole input of a tool moves into the description.
- **JSON mode** is an instruction, which the model may disobey.
- **An assistant turn at the end**: a model that refuses to continue it gets an instruction to continue it. Its answer may
  start again from the beginning.
- **Instructions between the turns** stay instructions if the model accepts them there; otherwise they become marked text.
- **A tool result** that does not come right after its call becomes text, and its call gets \`[no result]\`.
- **Refused by name**: tools, forced tools, pictures, documents and URLs that the model does not accept.
- **\`max_tokens\`**, where the client sets none: the bound of the model in gateway.yaml, else the model's known bound (never
  above its context length in gateway.yaml), else \`OUTPUT_TOKENS_DEFAULT\`. A higher bound of the client is lowered to the
  model's known bound.

A \`thread\` of a Messages client is refused with \`error.details.error_code: thread_unsupported_request\` on every channel
of another format. The tool runners of the vendor's SDKs then continue without it.`

const introduction = `# Translation

You send a request in one format, and the model is served in another. This page says what happens to each field: whether it
arrives, under which name, or why not. [Migration](../tutorials/migration.md) shows how to see this for one of your requests.

A channel that speaks the client's format gets the client's own bytes, except for an empty list of tools: see
[below](#what-every-upstream-gets). Reasoning that it refuses as foreign is left out in
[a second try](routing.md#a-refused-parameter). Any other channel gets a translation. The lists and tables cover each
documented field of a request on its own. To look one up, go to the format that you send:
[chat completions](#from-openai-chat), [Responses](#from-openai-responses), [Messages](#from-anthropic-messages).
\`test/protocols/fields.test.ts\` makes them from the code and fails when they differ
(\`npm test -- test/protocols/fields.test.ts -u\` writes them anew).

- **mapped**: the other format says the same in its own words.
- **emulated**: done by other means, such as an instruction in the system prompt.
- **clamped**, **defaulted**: the upstream gets a different value, or one that the client did not give.
- **dropped**: left out; the answer is as good without it. With \`x-tollgate-strict: true\` this is a 400.
- **refused**: a 400 that names the field, because the answer would not be what the client asked for. If another channel
  of the model can take the field, the gateway uses that channel.

A field that this page does not list is dropped. The usage log notes every field that is not simply mapped; the header
\`x-tollgate-translation\` has these notes in short.

[Answers](#answers) carry all that the client's format can say: text, refusals, reasoning with its
[signature](../decisions/0014-reasoning-in-signed-envelopes.md), tool calls, citations, stop reasons, errors, and usage with
its parts. \`POST /v1/translate\` shows what one of your requests becomes, without calling any upstream.

Tollgate knows what a model does not accept from its [traits](configuration.md), and learns it from refusals: a parameter that the
upstream refuses is left out, or said in other words, in [a second try](routing.md#a-refused-parameter).

When a field is refused, the 400 names the key's models whose channels accept the request untranslated, and the endpoints on
which this model does. The same applies to tools that only their vendor runs, such as code execution, file search, an MCP
connector or a shell in a container.

Reasoning of one vendor travels through clients of another format in signed envelopes, and goes back only to the model that
produced it. [Routing](routing.md) says which channel is used when several could answer.

## To \`openai-chat\`, \`openai-responses\` and \`gemini\`, by the model

The lists and tables below apply to a model about which nothing is known. If the [traits](configuration.md) of a model are
known, a request is adapted to it:

- **Parameters** that the model does not accept are dropped. A parameter with the default value is left out and counts as
  mapped. Temperatures, output tokens and thinking budgets are clamped to its bounds; stop sequences over its bound are
  refused. The gateway itself takes care of two options: if a model accepts no stop sequences, the gateway ends the text
  there, and if a model cannot be limited to one call at a time, the answer has only the first.
- **Thinking**: the effort becomes the model's nearest level, or the lower one if two are equally near. \`none\` becomes its
  lowest level, or the setting that turns the model's thinking off: \`"thinking": {"type": "disabled"}\` for DeepSeek, Kimi
  K2.5 and K2.6 and GLM up to 5.2, \`"enable_thinking": false\` for Qwen. A token budget and an effort are converted into each
  other: 0 is \`none\`, up to 4,096 \`low\`, below 16,384 \`medium\`, else \`high\`; and \`minimal\` is 512, \`low\` 1,024, \`medium\`
  8,192, \`high\` 24,576, \`xhigh\` 32,768, \`max\` 65,536 tokens. A model that accepts no setting for thinking gets none.
- **Tools**: refused if the model accepts none, or cannot be forced to call one. Custom tools become functions with one text
  if the model has no custom tools. \`strict\` is dropped where the model does not support strict tools, or not with this schema.
- **Formats**: a schema is rewritten to what the vendor accepts, and the descriptions say what was removed. An instruction
  asks for JSON if the model has no JSON mode, accepts no schema, or accepts no tools together with a format (Gemini before
  3, all models of Groq and Cerebras).
- **Content**: images, documents and audio that the model does not read are refused, and so are URLs if the upstream does not
  fetch them. Instructions between other turns become user text if the model accepts them only at the front. If it accepts
  only one message of them (\`several_instructions: false\`: Qwen, vLLM and the like), all are joined at the front. On Chat
  upstreams that are not known to accept parts, the texts of a turn become paragraphs of one text, unless the turn has a
  picture.
- **Conflicts**: thinking is turned off for a model that accepts no tools while it thinks (GPT 5.4 to 5.6 over Chat). The
  same applies to a model that accepts no forced call while it thinks (DeepSeek, Kimi K2.5 and K2.6, Qwen), even if the
  request says nothing about thinking; if it always thinks (Kimi K2.7), a forced call is refused. Sampling parameters are
  dropped if the model accepts them only without thinking. A forced call takes precedence over a format.
- **The conversation**: a model that does not continue an assistant turn gets an instruction to continue it. An assistant
  message is inserted between tool results and a user message if the upstream requires one (Mistral); thoughts are sent with
  calls if it requires them (DeepSeek, Kimi), and never if it refuses them (Mistral). Ids of calls that another vendor made
  get the form that the model accepts, the same for the call and its result: nine letters and digits for Mistral.
- **Caching**: \`cache_control\` is passed on if the vendor accepts it in Chat (OpenRouter, LiteLLM, Qwen), at most four of
  them, and becomes \`prompt_cache_breakpoint\` for OpenAI's models since GPT 5.6. OpenAI, Moonshot, Mistral and OpenRouter get
  a \`prompt_cache_key\` from the session that the client names by a header or in its body: a hash of it, different for each
  tenant. There is a note for each of these.
- **\`max_tokens\` or \`max_completion_tokens\`**: models that are named as OpenAI's (\`gpt-\`, \`o3\`) get the newer name, all
  others the older one, which most servers know. The trait \`output_bound\` overrides this.

## What every upstream gets

A tool that is listed twice is sent once, with a note, to Messages and Gemini upstreams, which refuse it. Base64 is passed on
as it came, also with line breaks or in another alphabet, and text next to calls in one assistant message stays there: only
the upstream knows what it accepts.

A call without a result gets the result \`[no result]\`. A result without a call becomes text of the user. A result that comes
later than other turns is moved to its call. Notes say all three.

An empty list of tools goes out as if it were absent, together with the \`tool_choice\` and \`parallel_tool_calls\` that mean
nothing without it, because many servers of the Chat format refuse it. This also applies to Chat channels of Chat clients; a
note says so. A \`tool_choice\` that demands a call stays, and the upstream refuses it.`
