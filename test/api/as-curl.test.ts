import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { asCurl } from '../../src/api/admin/as-curl.ts'
import { type ScriptedUpstream, startUpstream } from '../support/upstream.ts'
import { type LogBed, startLogBed } from './log-bed.ts'

/** The command that sends a request of the log again, run by a real shell. */

const run = promisify(execFile)

let bed: LogBed
let other: ScriptedUpstream
beforeAll(async () => {
  other = await startUpstream()
  bed = await startLogBed({ CAPTURE_BYTES_MAX: '400000', CAPTURE_STRING_BYTES_MAX: '300000' })
})
afterAll(async () => {
  await bed.close()
  await other.close()
})

/** What a shell that runs the command sends. */
async function sentBy(
  command: string,
): Promise<{ body: Buffer; headers: Record<string, unknown>; path: string }> {
  const before = other.requests.length
  // A script, as an argument of a program is bounded.
  const shell = run('sh', ['-s'], {
    env: { PATH: process.env.PATH, TOLLGATE_KEY: "a'key", TOLLGATE_URL: `http://127.0.0.1:${other.port}` },
  })
  shell.child.stdin?.end(command)
  await shell
  const seen = other.requests[before]
  if (seen === undefined) throw new Error('nothing was sent')
  return { body: seen.body, headers: seen.headers, path: seen.path }
}

test('a shell that runs the command sends the same bytes', async () => {
  const texts = [
    'plain',
    `it's "quoted" \\ $HOME \`id\` $(id) !! \\n %s %d`,
    'line\nbreak\r\n\ttab  \u2028 \u{1f600} \\u0000',
    `${"'".repeat(40)}#;&|<>*?[]{}~`,
    'x'.repeat(150_000),
  ]
  for (const content of texts) {
    const sent = JSON.stringify({ model: 'main', stream: false, messages: [{ role: 'user', content }] })
    const { body } = await bed.read(await bed.send(sent))
    const { command = '', differs } = body.as_curl ?? {}
    expect(differs).toEqual([])
    const seen = await sentBy(command)
    expect(seen.body.toString()).toBe(sent)
    expect(seen.path).toBe('/v1/chat/completions')
    expect(seen.headers).toMatchObject({ authorization: "Bearer a'key", 'content-type': 'application/json' })
  }
})

test('whitespace and an @ at the start of a body stay as they are', async () => {
  for (const body of ['@/etc/passwd', '\n {"a": 1}\n\n', '-d x', '']) {
    const kept = {
      endpoint: '/v1/messages',
      client_protocol: null,
      stream: true,
      payload: { capture: 'content', body },
    }
    const seen = await sentBy(asCurl(kept, undefined)?.command ?? '')
    expect(seen.body.toString()).toBe(body)
    expect(seen.headers).toMatchObject({ 'x-api-key': "a'key", 'anthropic-version': '2023-06-01' })
  }
})
