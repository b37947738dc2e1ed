import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, expect, test } from 'vitest'

const repository = join(import.meta.dirname, '../..')
const home = mkdtempSync(join(tmpdir(), 'tollgate-first-run-'))
const dataDir = join(home, 'data')
afterAll(() => rmSync(home, { recursive: true, force: true }))

interface Started {
  child: ChildProcess
  text: string
  baseURL: string
}

/** Starts what `npm start` starts, with only a free port and a data directory set. */
function start(): Promise<Started> {
  const child = spawn(process.execPath, ['runtime.cjs', 'src/server.ts'], {
    cwd: repository,
    env: { PATH: process.env.PATH ?? '', HOME: home, PORT: '0', DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  let errors = ''
  child.stderr?.on('data', (data) => {
    errors += data
  })
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`it ended with ${code}:\n${text}${errors}`)))
    child.stdout?.on('data', (data) => {
      text += data
      const baseURL = /base URL: (\S+)/.exec(text)?.[1]
      if (baseURL !== undefined && text.includes('/usage/requests')) resolve({ child, text, baseURL })
    })
  })
}

function stop(child: ChildProcess): Promise<number | null> {
  child.removeAllListeners('exit')
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  return exited
}

test('the first start prints a base URL, a key and a curl; the official SDK streams with them; the second start keeps data and prints no key', async () => {
  const first = await start()
  const apiKey = /tg-[0-9A-Za-z]{46}/.exec(first.text)?.[0] ?? ''
  expect(first.text).toContain('curl -N')
  expect(first.text).toContain('demo')
  const openai = new OpenAI({ baseURL: first.baseURL, apiKey, maxRetries: 0 })
  const { data: stream, request_id } = await openai.chat.completions
    .create({ model: 'demo-chat', stream: true, messages: [{ role: 'user', content: 'Hello' }] })
    .withResponse()
  let text = ''
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
  expect(text).toContain('demo')
  const tools = await openai.chat.completions.create({
    model: 'demo-chat',
    messages: [{ role: 'user', content: 'Use it' }],
    tools: [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          parameters: { type: 'object', properties: { city: { type: 'string' } } },
        },
      },
    ],
    tool_choice: 'required',
  })
  expect(tools.choices[0]?.message.tool_calls?.[0]).toMatchObject({
    type: 'function',
    function: { name: 'get_weather' },
  })
  const question = { model: 'demo-chat', messages: [{ role: 'user' as const, content: 'Hello' }] }
  const origin = first.baseURL.replace(/\/v1$/, '')
  const anthropic = new Anthropic({ baseURL: origin, apiKey, maxRetries: 0 })
  const message = await anthropic.messages.stream({ ...question, max_tokens: 100 }).finalMessage()
  expect(message.content).toMatchObject([{ text: expect.stringContaining('You said: "Hello"') }])
  expect((await anthropic.messages.countTokens(question)).input_tokens).toBe(message.usage.input_tokens)
  const response = await openai.responses.stream({ model: 'demo-chat', input: 'Hello' }).finalResponse()
  expect(response.output_text).toContain('You said: "Hello"')
  const image = await openai.images.generate({ model: 'demo-image', prompt: 'A quiet harbour' })
  expect(Buffer.from(image.data?.[0]?.b64_json ?? '', 'base64').toString('latin1', 1, 4)).toBe('PNG')

  const log = (key: string) =>
    fetch(`${first.baseURL}/usage/requests/${request_id}`, { headers: { authorization: `Bearer ${key}` } })
  expect(await (await log(apiKey)).json()).toMatchObject({
    id: request_id,
    status: 200,
    outcome: 'succeeded',
    usage_source: 'upstream',
  })
  expect(statSync(join(dataDir, 'secret.key')).mode & 0o077).toBe(0)
  expect(await stop(first.child)).toBe(0)

  const second = await start()
  expect(second.text).not.toMatch(/tg-[0-9A-Za-z]{46}/)
  const kept = await fetch(`${second.baseURL}/usage/requests/${request_id}`, {
    headers: { authorization: `Bearer ${apiKey}` },
  })
  expect(await kept.json()).toMatchObject({ id: request_id })
  expect(await stop(second.child)).toBe(0)
})
