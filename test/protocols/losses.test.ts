import { describe, expect, test } from 'vitest'
import type { ChatEvent } from '../../src/canonical/event.ts'
import type { Json } from '../../src/canonical/json.ts'
import { type CollectedAnswer, collect } from '../../src/protocols/collect.ts'
import { upstreamSide } from '../../src/protocols/index.ts'
import type { ProtocolName } from '../../src/protocols/protocol.ts'

// Parts of answers that other formats cannot carry: they are passed on in another way, or noted.

const context = { upstreamModel: 'm' }
const whole = (protocol: ProtocolName, body: Json) =>
  collect(upstreamSide(protocol).decodeResponse(body, context))
function streamed(protocol: ProtocolName, frames: Json[]): CollectedAnswer {
  const decoder = upstreamSide(protocol).decodeStream(context)
  const events: ChatEvent[] = frames.flatMap((frame) => decoder.push(JSON.stringify(frame)))
  return collect(events.at(-1)?.type === 'finish' ? events : [...events, ...decoder.end()])
}
const pathsOf = ({ finish }: CollectedAnswer) => finish.losses?.map(({ path }) => path)

const chat = (message: Json, beside: Json = {}) => ({
  id: 'c',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
  ...beside,
})
const chunk = (delta: Json, beside: Json = {}) => ({
  id: 'c',
  choices: [{ index: 0, delta, finish_reason: null }],
  ...beside,
})
const end = { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }

describe('chat', () => {
  test('pictures are noted, and are an error if there is nothing else', () => {
    expect(pathsOf(whole('openai-chat', chat({ content: 'A cat.', images: [image] })))).toEqual([
      'answer.images',
    ])
    const frames = [chunk({ content: 'A cat.' }), chunk({ images: [image] }), end]
    expect(pathsOf(streamed('openai-chat', frames))).toEqual(['answer.images'])
    const alone = 'only images or audio, which cannot be translated'
    expect(() => whole('openai-chat', chat({ content: '', images: [image] }))).toThrow(alone)
    expect(() => streamed('openai-chat', [chunk({ images: [image] }), end])).toThrow(alone)
  })

  test('a spoken answer has its transcript as text', () => {
    const audio = { id: 'a', data: 'AAAA', transcript: 'Hello there.', expires_at: 1 }
    const answer = whole('openai-chat', chat({ content: null, audio }))
    expect(answer.blocks.map(({ text }) => text)).toEqual(['Hello there.'])
    expect(pathsOf(answer)).toEqual(['answer.audio'])
    const frames = [
      chunk({ audio: { id: 'a', transcript: 'Hello ' } }),
      chunk({ audio: { transcript: 'there.' } }),
      chunk({ audio: { data: 'AAAA' } }),
      end,
    ]
    expect(streamed('openai-chat', frames).blocks.map(({ text }) => text)).toEqual(['Hello there.'])
    const both = whole('openai-chat', chat({ content: 'Written.', audio }))
    expect(both.blocks.map(({ text }) => text)).toEqual(['Written.'])
  })

  test('sources of the whole answer are cited by its text, once each', () => {
    const beside = {
      citations: ['https://a.example/', 'https://b.example/'],
      search_results: [{ title: 'A', url: 'https://a.example/', date: null }],
    }
    const cited = [
      { type: 'citation', url: 'https://a.example/', title: 'A' },
      { type: 'citation', url: 'https://b.example/', title: undefined },
    ]
    expect(whole('openai-chat', chat({ content: 'So [1][2].' }, beside)).blocks[0]?.citations).toEqual(cited)
    const frames = [
      chunk({ content: 'So ' }, beside),
      chunk({ content: '[1][2].' }, beside),
      { ...end, ...beside },
    ]
    const answer = streamed('openai-chat', frames)
    expect(answer.blocks.map(({ text, citations }) => [text, citations])).toEqual([['So [1][2].', cited]])
    expect(pathsOf(answer)).toBeUndefined()
    const listed = whole('openai-chat', chat({ content: 'So.' }, { search_results: beside.search_results }))
    expect(listed.blocks[0]?.citations).toEqual(cited.slice(0, 1))
    const annotations = [{ type: 'url_citation', url_citation: { url: 'https://a.example/', title: 'A' } }]
    const twice = whole('openai-chat', chat({ content: 'So.', annotations }, beside))
    expect(twice.blocks[0]?.citations.map(({ url }) => url)).toEqual(beside.citations)
  })

  test('sources without a text that could cite them are noted', () => {
    const calls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }]
    const answer = whole('openai-chat', chat({ tool_calls: calls }, { citations: ['https://a.example/'] }))
    expect(pathsOf(answer)).toEqual(['answer.citations'])
  })

  test('a citation of a file is noted', () => {
    const annotations = [{ type: 'file_citation', file_citation: { file_id: 'f' } }]
    expect(pathsOf(whole('openai-chat', chat({ content: 'So.', annotations })))).toEqual([
      'answer.annotations',
    ])
  })
})

test('responses: citations of files and pictures are noted', () => {
  const annotations = [{ type: 'file_citation', file_id: 'f', filename: 'a.pdf', index: 0 }]
  const content = [{ type: 'output_text', text: 'So.', annotations }]
  const output = [
    { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'AAAA' },
    { type: 'message', id: 'msg_1', role: 'assistant', content },
  ]
  const response = { id: 'resp_1', status: 'completed', output }
  const paths = ['answer.output: image_generation_call', 'answer.annotations']
  expect(pathsOf(whole('openai-responses', response))).toEqual(paths)
  expect(pathsOf(streamed('openai-responses', [{ type: 'response.completed', response }]))).toEqual(paths)
})

test('messages: citations of documents are noted', () => {
  const citations = [{ type: 'char_location', cited_text: 'a', document_index: 0, document_title: 'D' }]
  const answer = whole('anthropic-messages', {
    type: 'message',
    content: [{ type: 'text', text: 'So.', citations }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  })
  expect(pathsOf(answer)).toEqual(['answer.content[].citations'])
})

test('gemini: pictures are noted, and are an error if there is nothing else', () => {
  const answer = (parts: Json[]) => ({ candidates: [{ content: { parts }, finishReason: 'STOP' }] })
  const picture = { inlineData: { mimeType: 'image/png', data: 'AAAA' } }
  expect(pathsOf(whole('gemini', answer([{ text: 'A cat.' }, picture])))).toEqual([
    'answer.parts[].inlineData',
  ])
  expect(() => whole('gemini', answer([picture]))).toThrow(
    'answered with image/png, which cannot be translated',
  )
})
