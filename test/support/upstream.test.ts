import { expect, test } from 'vitest'
import { untilSteady } from './until.ts'
import { type ScriptedUpstream, startUpstream } from './upstream.ts'
import { chatStream } from './upstream-plans.ts'

test('a stream carries usage only when the request asked for it', async () => {
  await withUpstream(async (upstream) => {
    const asked = await (
      await call(upstream, { stream: true, stream_options: { include_usage: true } })
    ).text()
    const unasked = await (await call(upstream, { stream: true })).text()
    expect(asked).toContain('"completion_tokens":7')
    expect(unasked).not.toContain('usage')
    expect(asked.endsWith('data: [DONE]\n\n') && unasked.endsWith('data: [DONE]\n\n')).toBe(true)
  })
})

test('every request is kept with its bytes and its marker', async () => {
  await withUpstream(async (upstream) => {
    await (await call(upstream, { marker: 'one' })).text()
    await (await call(upstream, { metadata: { marker: 'two' } })).text()
    expect(upstream.requests.map((request) => request.marker)).toEqual(['one', 'two'])
    expect(JSON.parse(upstream.requests[0]?.body.toString() ?? '')).toEqual({ marker: 'one' })
  })
})

test.each(['cut', 'reset'])(
  'a stream that ends by %s fails at the caller, and does not count as closed by it',
  async (model) => {
    await withUpstream(async (upstream) => {
      const response = await call(upstream, { model, stream: true })
      await expect(response.text()).rejects.toThrow()
      await upstream.requests[0]?.closed
      expect(upstream.requests[0]?.closedEarly).toBe(false)
    })
  },
)

test('a caller that leaves a stalled answer closed early', async () => {
  await withUpstream(async (upstream) => {
    const leave = new AbortController()
    await call(upstream, { model: 'stall', stream: true }, leave.signal)
    leave.abort()
    await upstream.requests[0]?.closed
    expect(upstream.requests[0]?.closedEarly).toBe(true)
  })
})

test('a caller that does not read delays the stream', async () => {
  await withUpstream(async (upstream) => {
    upstream.script((request) => ({ ...chatStream(request), chunks: endless() }))
    const leave = new AbortController()
    await call(upstream, {}, leave.signal)
    const [request] = upstream.requests
    expect(await untilSteady(() => request?.bytesSent ?? 0, 200)).toBeGreaterThan(0)
    leave.abort()
    await request?.closed
  })
})

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(65_536)
}

async function withUpstream(use: (upstream: ScriptedUpstream) => Promise<void>): Promise<void> {
  const upstream = await startUpstream()
  try {
    await use(upstream)
  } finally {
    await upstream.close()
  }
}

function call(upstream: ScriptedUpstream, body: object, signal?: AbortSignal): Promise<Response> {
  const init = { method: 'POST', body: JSON.stringify(body), ...(signal && { signal }) }
  return fetch(`${upstream.url}/chat/completions`, init)
}
