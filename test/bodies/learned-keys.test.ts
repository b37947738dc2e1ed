import { expect, onTestFinished, test } from 'vitest'
import { BodyThreads } from '../../src/bodies/body-threads.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'

test('threads open envelopes of a key that they learn while they run, and still those of the key before', async () => {
  const [old, fresh] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const threads = new BodyThreads({
    threads: 1,
    waitingMax: 10,
    heapBytesMax: 256 * 1024 * 1024,
    data: {
      envelopeKeys: [old],
      bounds: { jsonDepthMax: 128, jsonValuesMax: 1_000 },
      redaction: { key: Buffer.alloc(32), bytesMax: 300, stringBytesMax: 100 },
    },
    log: silentLog,
  })
  onTestFinished(() => threads.close())
  const translated = async (key: Buffer) => {
    const signature = makeEnvelope(key).wrap({
      protocol: 'anthropic-messages',
      model: 'up',
      kind: 'signature',
      value: 'signed-by-the-vendor',
    })
    const reasoning = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'x' }],
      encrypted_content: signature,
    }
    const body = {
      model: 'm',
      input: [
        { role: 'user', content: 'a' },
        reasoning,
        { role: 'assistant', content: 'c' },
        { role: 'user', content: 'b' },
      ],
    }
    const bytes = Buffer.from(new Uint8Array(Buffer.from(JSON.stringify(body))))
    const target = { protocol: 'anthropic-messages', upstreamModel: 'up', traits: {} } as const
    const input = {
      bytes,
      into: new Uint8Array(new SharedArrayBuffer(65_536)),
      client: 'openai-responses',
      target,
      strict: false,
      maxOutputTokensDefault: 77,
    } as const
    const { done } = threads.run('key', { name: 'translate', input })
    return Buffer.from((await done).bytes).toString()
  }
  expect(await translated(old)).toContain('signed-by-the-vendor')
  expect(await translated(fresh)).not.toContain('signed-by-the-vendor')
  threads.learn({ envelopeKeys: [fresh, old] })
  expect(await translated(fresh)).toContain('signed-by-the-vendor')
  expect(await translated(old)).toContain('signed-by-the-vendor')
})
