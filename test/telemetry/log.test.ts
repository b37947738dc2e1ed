import { expect, test } from 'vitest'
import { makeLog, redactedPaths, requestLog } from '../../src/telemetry/log.ts'

test('an event is one JSON line: its level, its time, its fields and its text', () => {
  const lines: string[] = []
  makeLog('info', { write: (line) => lines.push(line) }).warn({ channel: 'main', status: 401 }, 'it failed')
  expect(lines).toHaveLength(1)
  expect(lines[0]?.endsWith('\n')).toBe(true)
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 40,
    time: expect.any(Number),
    channel: 'main',
    status: 401,
    msg: 'it failed',
  })
})

test('a line without fields has only its text', () => {
  expect(written((log) => log.info({}, 'ended'))).toEqual([
    { level: 30, time: expect.any(Number), msg: 'ended' },
  ])
})

test('every line of a request carries its id', () => {
  const lines = written((log) => {
    const own = requestLog(log, 'the-id')
    own.info({}, 'one')
    own.error({ cause: 'other' }, 'two')
  })
  expect(lines).toMatchObject([{ request: 'the-id' }, { request: 'the-id', cause: 'other' }])
})

test('a field that may hold a secret is redacted, at the top, below it, and in a child', () => {
  for (const name of ['authorization', 'x-api-key', 'secret', 'token', 'credential', 'password', 'body']) {
    expect(redactedPaths).toContain(`["${name}"]`)
    const text = JSON.stringify(
      written((log) => {
        log.warn({ [name]: 'plain words', channel: 'main' }, 'top')
        log.warn({ headers: { [name]: 'plain words', accept: '*/*' } }, 'below')
        log.child({ [name]: 'plain words' }).warn({}, 'child')
      }),
    )
    expect(text).not.toContain('plain words')
    expect(text.match(/\[REDACTED/g)).toHaveLength(3)
    expect(text).toContain('"channel":"main"')
    expect(text).toContain('"accept":"*/*"')
  }
})

test('a secret that is known by its form is redacted in any field and in the text', () => {
  const secret = `sk-proj-${'a1B2c3D4'.repeat(6)}`
  const text = JSON.stringify(written((log) => log.error({ cause: `bad key ${secret}` }, `not ${secret}`)))
  expect(text).not.toContain(secret)
  expect(text.match(/\[REDACTED /g)).toHaveLength(2)
})

test('lines below the level are not written', () => {
  expect(written((log) => log.info({}, 'quiet'), 'warn')).toEqual([])
})

function written(use: (log: ReturnType<typeof makeLog>) => void, level = 'info'): unknown[] {
  const lines: unknown[] = []
  use(makeLog(level, { write: (line) => lines.push(JSON.parse(line)) }))
  return lines
}
