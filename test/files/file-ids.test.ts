import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { reasonOf } from '../support/reason-of.ts'
import { until } from '../support/until.ts'
import { type FilesBed, keys, note, pdf, png, startFilesBed, upload, upstreams } from './bed.ts'

/** Requests that name files, in all formats of clients, over all upstreams. */

let bed: FilesBed
beforeAll(async () => {
  bed = await startFilesBed({ BODY_BYTES_MAX: '4000000', FILES_PER_REQUEST_MAX: '3' })
})
afterAll(() => bed.close())

type Kind = 'pdf' | 'png' | 'note'
const bytesOf = { pdf, png, note }
const names = { pdf: 'paper.pdf', png: 'dot.png', note: 'note.txt' }

const formats = {
  async responses(model: string, kind: Kind, id: string, key = keys.a) {
    const part =
      kind === 'png'
        ? ({ type: 'input_image', detail: 'auto', file_id: id } as const)
        : ({ type: 'input_file', file_id: id } as const)
    await bed.openai(key).responses.create({
      model,
      store: false,
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'What is it?' }, part] }],
    })
  },
  async chat(model: string, _: Kind, id: string, key = keys.a) {
    const content = [
      { type: 'text', text: 'What is it?' },
      { type: 'file', file: { file_id: id } },
    ] as const
    await bed
      .openai(key)
      .chat.completions.create({ model, messages: [{ role: 'user', content: [...content] }] })
  },
  async messages(model: string, kind: Kind, id: string, key = keys.a) {
    const client = new Anthropic({ baseURL: bed.tollgate.url, apiKey: key, maxRetries: 0 })
    await client.beta.messages.create({
      model,
      max_tokens: 64,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: kind === 'png' ? 'image' : 'document', source: { type: 'file', file_id: id } },
          ],
        },
      ],
    })
  },
}

test.each(Object.keys(upstreams))(
  'a long conversation about a file comes to %s whole at every turn',
  async (model) => {
    const client = new Anthropic({ baseURL: bed.tollgate.url, apiKey: keys.a, maxRetries: 0 })
    const id = await upload(bed.openai(), pdf, 'paper.pdf')
    const said = (at: number, text: string) =>
      ({ role: at % 2 === 0 ? 'user' : 'assistant', content: text }) as const
    for (const count of [3, 5, 7]) {
      const later = Array.from({ length: count - 1 }, (_, at) => said(at + 1, `turn ${at}. `.repeat(2_000)))
      const source = { type: 'file', file_id: id } as const
      await client.beta.messages.create({
        model,
        max_tokens: 64,
        messages: [{ role: 'user', content: [{ type: 'document', source }] }, ...later],
      })
      const sent = bed.seen.at(-1) ?? ''
      expect(sent).toContain(pdf.toString('base64'))
      expect(later.filter(({ content }) => !sent.includes(content))).toEqual([])
    }
  },
)

describe.each(Object.keys(formats) as (keyof typeof formats)[])('%s', (format) => {
  test.each(Object.keys(upstreams))('the bytes of a PDF, a picture and a text come to %s', async (model) => {
    for (const kind of ['pdf', 'png', 'note'] as const) {
      const id = await upload(bed.openai(), bytesOf[kind], names[kind])
      await formats[format](model, kind, id)
      const sent = bed.seen.at(-1) ?? ''
      const inside = JSON.stringify(note.toString()).slice(1, -1)
      const found =
        sent.includes(bytesOf[kind].toString('base64')) || (kind === 'note' && sent.includes(inside))
      expect(found, `${kind}: ${sent}`).toBe(true)
      expect(sent).not.toContain(id)
    }
  })

  test('a file of another tenant, of another key, a deleted one and one that never was look the same', async () => {
    const client = bed.openai()
    const [file, gone] = [await upload(client, pdf, 'a.pdf'), await upload(client, pdf, 'gone.pdf')]
    await client.files.delete(gone)
    const before = bed.seen.length
    const problems: string[] = []
    for (const [id, key] of [
      [file, keys.b],
      [file, keys.own],
      [gone, keys.a],
      [`file-tg${'0'.repeat(32)}`, keys.a],
    ] as const) {
      const error: unknown = await formats[format]('via-chat', 'pdf', id, key).catch(
        (cause: unknown) => cause,
      )
      expect(error).toMatchObject({ status: 400 })
      problems.push(
        String(error)
          .replaceAll(id, 'ID')
          .replace(/req[\w-]+|"request_id":"[^"]*"/g, ''),
      )
    }
    expect(new Set(problems).size).toBe(1)
    expect(problems[0]).toContain('file_id')
    expect(bed.seen.length).toBe(before)
  })
})

test("the row keeps the body with the file's id, and counts what was sent", async () => {
  const client = bed.openai()
  const id = await upload(client, pdf, 'paper.pdf')
  await formats.responses('via-messages', 'pdf', id)
  const row = await until(async () => {
    const [found] = await bed.database.sql<{ body: string }[]>`
      SELECT p.body FROM request_payloads p JOIN requests r ON r.id = p.request_id
      WHERE r.endpoint = '/v1/responses' AND p.body LIKE ${`%${id}%`}`
    return found
  })
  expect(row.body).not.toContain(pdf.toString('base64').slice(0, 40))
})

test('an id that is not ours goes to a channel of its own format as it came, and is refused elsewhere by name', async () => {
  const theirs = 'file-6F2ksmvXxt4VdoqmHRw6kL'
  await formats.responses('via-responses', 'pdf', theirs).catch(() => {})
  expect(bed.seen.at(-1)).toContain(theirs)
  const before = bed.seen.length
  await expect(formats.responses('via-messages', 'pdf', theirs)).rejects.toThrow(/file/)
  expect(bed.seen.length).toBe(before)
})

test('a picture does for a file, and a file for no picture', async () => {
  const client = bed.openai()
  const [picture, paper] = [await upload(client, png, 'dot.png'), await upload(client, pdf, 'paper.pdf')]
  await client.responses.create({
    model: 'via-responses',
    store: false,
    input: [{ role: 'user', content: [{ type: 'input_file', filename: 'x', file_id: picture }] }],
  })
  const sent = JSON.parse(bed.seen.at(-1) ?? '{}')
  expect(sent.input[0].content[0]).toEqual({
    type: 'input_image',
    image_url: `data:image/png;base64,${png.toString('base64')}`,
  })
  await expect(formats.responses('via-responses', 'png', paper)).rejects.toThrow(
    /input\[0\]\.content\[1\]\.file_id: expected an image, got a file of type application\/pdf/,
  )
})

test('bytes outside of the part stay as they came, and one file may be in two places', async () => {
  const id = await upload(bed.openai(), pdf, 'paper.pdf')
  const part = `{"type":"input_file","file_id":"${id}"}`
  const body = (one: string) =>
    `{ "model":"via-responses" , "store":false,"metadata":{"note":"${id}"},"input":[{"role":"user","content":[${one},  ${one}]}], "temperature" : 1.0}`
  const answer = await fetch(`${bed.tollgate.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.a}`, 'content-type': 'application/json' },
    body: body(part),
  })
  expect(await answer.json()).toMatchObject({ object: 'response' })
  const whole = JSON.stringify({
    type: 'input_file',
    filename: 'paper.pdf',
    file_data: `data:application/pdf;base64,${pdf.toString('base64')}`,
  })
  expect(bed.seen.at(-1)).toBe(body(whole).replace('"via-responses"', '"demo-via-responses"'))
})

test('a large file goes through a thread, from a small body and from a large one', async () => {
  const large = Buffer.concat([pdf, Buffer.alloc(1_200_000, 'x')])
  const id = await upload(bed.openai(), large, 'large.pdf')
  for (const model of ['via-responses', 'via-messages']) {
    for (const padding of ['', ' '.repeat(600_000)]) {
      await bed.openai().responses.create({
        model,
        store: false,
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: `Read it.${padding}` },
              { type: 'input_file', file_id: id },
            ],
          },
        ],
      })
      expect(bed.seen.at(-1)?.includes(large.toString('base64'))).toBe(true)
    }
  }
})

test('what does not fit into a body, and too many places, are refused before anything is sent', async () => {
  const client = bed.openai()
  const id = await upload(client, Buffer.concat([pdf, Buffer.alloc(1_600_000, 'x')]), 'large.pdf')
  const before = bed.seen.length
  const ask = (times: number, which: string) =>
    client.responses.create({
      model: 'via-responses',
      store: false,
      input: [
        {
          role: 'user',
          content: Array.from({ length: times }, () => ({ type: 'input_file', file_id: which })),
        },
      ],
    } as Parameters<typeof client.responses.create>[0])
  const refused = await ask(2, id).catch((error: unknown) => error)
  expect(refused).toMatchObject({ status: 413 })
  expect(reasonOf(refused)).toBe('request_with_files_too_large')
  const small = await upload(client, pdf, 'small.pdf')
  await ask(3, small)
  await expect(ask(4, small)).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('at most 3 references'),
  })
  expect(bed.seen.length).toBe(before + 1)
})

test('files in the results of tools are read too', async () => {
  const picture = await upload(bed.openai(), png, 'dot.png')
  const tools = [{ name: 'draw', input_schema: { type: 'object' as const } }]
  const client = new Anthropic({ baseURL: bed.tollgate.url, apiKey: keys.a, maxRetries: 0 })
  await client.beta.messages.create({
    model: 'via-messages',
    max_tokens: 64,
    tools,
    messages: [
      { role: 'user', content: 'Draw.' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'draw', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            content: [{ type: 'image', source: { type: 'file', file_id: picture } }],
          },
        ],
      },
    ],
  })
  expect(bed.seen.at(-1)).toContain(png.toString('base64'))
  await bed.openai().responses.create({
    model: 'via-messages',
    store: false,
    tools: [{ type: 'function', name: 'draw', parameters: { type: 'object' }, strict: false }],
    input: [
      { role: 'user', content: 'Draw.' },
      { type: 'function_call', call_id: 'call_1', name: 'draw', arguments: '{}' },
      {
        type: 'function_call_output',
        call_id: 'call_1',
        output: [{ type: 'input_image', detail: 'auto', file_id: picture }],
      },
    ],
  })
  expect(bed.seen.at(-1)).toContain(png.toString('base64'))
  const computer = (id: string) => ({
    model: 'via-messages',
    store: false,
    tools: [{ type: 'computer' as const }],
    input: [
      { role: 'user' as const, content: 'Look.' },
      {
        ...{ type: 'computer_call' as const, id: 'cu_1', call_id: 'call_1', status: 'completed' as const },
        ...{ actions: [{ type: 'screenshot' as const }], pending_safety_checks: [] },
      },
      {
        type: 'computer_call_output' as const,
        call_id: 'call_1',
        output: { type: 'computer_screenshot' as const, file_id: id },
      },
    ],
  })
  await bed.openai().responses.create(computer(picture))
  expect(bed.seen.at(-1)).toContain(png.toString('base64'))
  const paper = await upload(bed.openai(), pdf, 'paper.pdf')
  await expect(bed.openai().responses.create(computer(paper))).rejects.toThrow('expected an image')
})

test('a kept turn names its file, whose bytes are sent again with the next turn', async () => {
  const client = bed.openai(keys.keeps)
  const id = await upload(client, pdf, 'paper.pdf')
  const first = await client.responses.create({
    model: 'via-messages',
    input: [{ role: 'user', content: [{ type: 'input_file', file_id: id }] }],
  })
  const items = await client.responses.inputItems.list(first.id)
  expect(JSON.stringify(items.data)).toContain(id)
  const next = { model: 'via-chat', previous_response_id: first.id, input: 'And what else?' }
  await client.responses.create(next)
  expect(bed.seen.at(-1)).toContain(pdf.toString('base64'))
  await client.files.delete(id)
  await expect(client.responses.create(next)).rejects.toThrow(
    /input\[0\]\.content\[0\]\.file_id: you have no stored file/,
  )
})

test('limited money covers what the file may cost, before anything is sent', async () => {
  const client = bed.openai(keys.paid)
  const id = await upload(client, pdf, 'paper.pdf')
  await client.responses.create({
    model: 'via-messages',
    store: false,
    input: `What is in ${id}?`,
    max_output_tokens: 16,
  })
  const before = bed.seen.length
  // The bytes of a PDF say little of its tokens: it may fill the context, at a thousand USD for a million tokens.
  await expect(formats.responses('via-messages', 'pdf', id, keys.paid)).rejects.toMatchObject({ status: 402 })
  expect(bed.seen.length).toBe(before)
})

test('a file named where its bytes cannot stand is refused by its place', async () => {
  const id = await upload(bed.openai(), pdf, 'paper.pdf')
  const client = new Anthropic({ baseURL: bed.tollgate.url, apiKey: keys.a, maxRetries: 0 })
  const asked = client.beta.messages.create({
    model: 'via-messages',
    max_tokens: 64,
    messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: id }] }],
  })
  await expect(asked).rejects.toThrow(
    /messages\[0\]\.content\[0\]\.file_id: a file stored in Tollgate can be used only in/,
  )
})

test('token counts and translations, which read no files, refuse one by name', async () => {
  const client = bed.openai()
  const id = await upload(client, note, 'note.txt')
  const [model = ''] = Object.keys(upstreams)
  const request = {
    model,
    input: [{ role: 'user', content: [{ type: 'input_file', file_id: id }] }],
  }
  const field = 'input[0].content[0].file_id'
  for (const [path, body] of [
    ['/responses/input_tokens', request],
    ['/translate', { from: 'openai-responses', to: 'gemini', request }],
  ] as const)
    await expect(client.post(path, { body })).rejects.toMatchObject({ status: 400, param: field })
  const anthropic = new Anthropic({ baseURL: bed.tollgate.url, apiKey: keys.a, maxRetries: 0 })
  const content = [{ type: 'document' as const, source: { type: 'file' as const, file_id: id } }]
  await expect(
    anthropic.beta.messages.countTokens({ model, messages: [{ role: 'user', content }] }),
  ).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('messages[0].content[0].source.file_id'),
  })
})
