import { describe, expect, test } from 'vitest'
import type { ChatEvent } from '../../src/canonical/event.ts'
import { refuseFiles } from '../../src/files/refuse-files.ts'
import { SafeWriter } from '../../src/gateway/answer-writer.ts'
import { openImage } from '../../src/images/image-bytes.ts'
import { errorOf } from '../../src/images/job-error.ts'
import { compactionClient } from '../../src/protocols/index.ts'
import { refused } from '../../src/protocols/notes.ts'
import { readCreateFrame } from '../../src/sockets/create-frame.ts'
import { oneAtATime, tooManyLanes } from '../../src/sockets/lanes.ts'
import { OpenSockets } from '../../src/sockets/open-sockets.ts'
import { webhookOf } from '../../src/stages/job-webhook.ts'

// Refusals whose reason no client sees in a header or a code.

const reason = (word: string) => expect.objectContaining({ reason: word })
const bounds = { jsonDepthMax: 100, jsonValuesMax: 1_000 }

describe('a WebSocket', () => {
  test('is refused where the process or the key has as many as it may', () => {
    const of = (socketsMax: number, keySocketsMax: number) =>
      new OpenSockets({ socketsMax, keySocketsMax, socketStatesBytesMax: 1 })
    expect(() => of(0, 1).requireRoom('k')).toThrow(reason('sockets_full'))
    expect(() => of(1, 0).requireRoom('k')).toThrow(reason('key_sockets_full'))
  })

  test('has one answer at a time, or as many as it has lanes', () => {
    expect(oneAtATime()).toMatchObject({ reason: 'socket_busy', code: 'response_in_progress' })
    expect(tooManyLanes('wait')).toMatchObject({ reason: 'socket_lanes_full', code: 'response_in_progress' })
  })

  test('takes no request for the background', () => {
    const frame = Buffer.from('{"type":"response.create","model":"m","background":true}')
    expect(() => readCreateFrame(frame, bounds)).toThrow(reason('frame_member_refused'))
  })
})

test('a compaction is not streamed', () => {
  const body = Buffer.from('{"model":"m","input":"x","stream":true}')
  expect(() => compactionClient().readRequest(body, bounds)).toThrow(reason('compaction_not_streamed'))
})

test('a part of a request without a counterpart is named', () => {
  expect(refused('tools[0]', 'no model runs it')).toMatchObject({
    reason: 'not_translatable',
    field: 'tools[0]',
  })
})

test('an image job that was cancelled, or made nothing, says so', () => {
  expect(errorOf({ error: null, state: 'cancelled' }).reason).toBe('image_cancelled')
  expect(errorOf({ error: null, state: 'failed' }).reason).toBe('image_job_empty')
})

test('an image that is no longer kept is gone', async () => {
  const storage = { open: async () => undefined } as unknown as Parameters<typeof openImage>[0]
  await expect(openImage(storage, 'a')).rejects.toMatchObject({ reason: 'image_gone' })
})

test('a webhook to a private address is refused', () => {
  const received = { request: { headers: { 'x-tollgate-webhook': 'https://10.0.0.1/x' } } }
  const gateway = { publicUrl: 'https://gateway.test', privateWebhooks: false }
  expect(() => webhookOf(gateway, received as unknown as Parameters<typeof webhookOf>[1])).toThrow(
    reason('webhook_address_refused'),
  )
})

test('a file that the gateway keeps is refused where no one reads it', () => {
  const file = { file_id: `file-tg${'0'.repeat(32)}` }
  const body = { model: 'm', messages: [{ role: 'user', content: [{ type: 'file', file }] }] }
  expect(() => refuseFiles(body, 'openai-chat', 'This endpoint')).toThrow(reason('kept_files_not_read'))
})

test('an event that cannot be written becomes an error', () => {
  const writer = new SafeWriter(
    {
      push: () => {
        throw new RangeError('too deep')
      },
    },
    { stream: false } as unknown as ConstructorParameters<typeof SafeWriter>[1],
  )
  const written: ChatEvent[] = []
  writer.push({ type: 'block-end', index: 0 }, (event) => written.push(event))
  expect(written).toMatchObject([{ type: 'error', error: { reason: 'upstream_answer_unwritable' } }])
})
