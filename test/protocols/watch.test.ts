import { expect, test } from 'vitest'
import { upstreamSide } from '../../src/protocols/index.ts'
import type { ProtocolName } from '../../src/protocols/protocol.ts'

const messages = [
  'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":7,"output_tokens":1}}}\n\n',
  'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}\n\n',
  'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":3}}\n\n',
  'event: message_stop\ndata: {"type":"message_stop"}\n\n',
]
const responses = [
  'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","status":"in_progress","model":"m","output":[]}}\n\n',
  'event: response.output_item.added\ndata: {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","content":[]}}\n\n',
  'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hi"}\n\n',
  'event: response.completed\ndata: {"type":"response.completed","response":{"id":"resp_1","status":"completed","model":"m","output":[],"usage":{"input_tokens":7,"output_tokens":3,"total_tokens":10}}}\n\n',
]
const streams: [ProtocolName, string[]][] = [
  ['anthropic-messages', messages],
  ['openai-responses', responses],
]

function watch(protocol: ProtocolName, stream: string, split: number, frameBytesMax = 10_000) {
  const watcher = upstreamSide(protocol).native?.watchStream({ dropUsageFrame: false, frameBytesMax })
  if (watcher === undefined) throw new Error(`${protocol} is not watched`)
  const bytes = Buffer.from(stream)
  const forwarded: Buffer[] = []
  let terminalAt: number | undefined
  for (let at = 0; at < bytes.length; at += split) {
    const { forward, terminal } = watcher.push(bytes.subarray(at, at + split))
    forwarded.push(...forward)
    if (terminal) terminalAt ??= at
  }
  const rest = watcher.end()
  if (rest !== undefined) forwarded.push(rest)
  return { bytes: Buffer.concat(forwarded).toString(), terminalAt, observation: watcher.observe() }
}

test.each(streams)(
  '%s: at any split the bytes pass unchanged, and the observation is the same',
  (protocol, frames) => {
    const stream = frames.join('')
    for (let split = 1; split <= stream.length; split += split < 40 ? 1 : 37) {
      const { bytes, observation } = watch(protocol, stream, split)
      expect(bytes).toBe(stream)
      expect(observation).toMatchObject({
        complete: true,
        error: undefined,
        usage: { input: 7, output: 3 },
        servedModel: 'm',
      })
    }
  },
)

test.each(streams)('%s: the last frame ends the stream, and no earlier one', (protocol, frames) => {
  const before = frames.slice(0, -1).join('')
  expect(watch(protocol, before, 10).terminalAt).toBeUndefined()
  expect(watch(protocol, before + frames.at(-1), 1).terminalAt).toBe(
    before.length + (frames.at(-1)?.length ?? 0) - 1,
  )
})

test.each(streams)('%s: the bytes before a cut end with a whole frame', (protocol, frames) => {
  const stream = frames.slice(0, 3).join('')
  const cut = stream.length - 20
  for (const split of [1, 7, 1000]) {
    const { bytes, observation } = watch(protocol, stream.slice(0, cut), split)
    expect(bytes).toBe(frames.slice(0, 2).join(''))
    expect(observation).toMatchObject({ complete: false, error: { kind: 'upstream_error' } })
  }
})

test.each(streams)(
  '%s: a frame that is too large to read ends the watching, and the stream passes to its end',
  (protocol, frames) => {
    const huge = `event: huge\ndata: "${'x'.repeat(3000)}"\n\n`
    const stream = [...frames.slice(0, 3), huge, ...frames.slice(3)].join('')
    const { bytes, terminalAt, observation } = watch(protocol, stream, 100, 1000)
    expect(bytes).toBe(stream)
    expect(terminalAt).toBeUndefined()
    expect(observation).toMatchObject({ complete: true, error: undefined })
    expect(observation.outputTokensEstimate).toBeGreaterThan(20)
  },
)
