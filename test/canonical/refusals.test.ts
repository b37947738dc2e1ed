import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { describe, expect, test, vi } from 'vitest'
import type { Actor } from '../../src/access/actor.ts'
import { watchCaller } from '../../src/api/admin/watch-caller.ts'
import { readFor } from '../../src/api/read-for.ts'
import { receiveUpload } from '../../src/api/receive-upload.ts'
import type { ChatEvent } from '../../src/canonical/event.ts'
import { groupOf } from '../../src/catalog/catalog.ts'
import type { Group, Model } from '../../src/catalog/snapshot.ts'
import { openImage } from '../../src/images/image-bytes.ts'
import { errorOf } from '../../src/images/job-error.ts'
import { jobWebhook } from '../../src/pipeline/background/job-webhook.ts'
import { formatAt } from '../../src/pipeline/endpoints.ts'
import type { Identified } from '../../src/pipeline/identify.ts'
import { continueKept } from '../../src/pipeline/kept/continue-kept.ts'
import { keepTurn } from '../../src/pipeline/kept/keep-answer.ts'
import { readInstead } from '../../src/pipeline/read.ts'
import { noModelCan } from '../../src/pipeline/refusals-that-help.ts'
import { SafeWriter } from '../../src/pipeline/translation/answer-writer.ts'
import { worstCaseOf } from '../../src/pipeline/worst-case.ts'
import { compactionClient } from '../../src/protocols/index.ts'
import { refused } from '../../src/protocols/notes.ts'
import { readCreateFrame } from '../../src/protocols/openai-responses/create-frame.ts'
import type { AnswerContext } from '../../src/protocols/protocol.ts'
import { planRoute } from '../../src/routing/candidates.ts'
import { oneAtATime, tooManyLanes } from '../../src/sockets/lanes.ts'
import { OpenSockets } from '../../src/sockets/open-sockets.ts'
import { ClientFiles } from '../../src/state/files/client-files.ts'
import { refuseFiles } from '../../src/state/files/refuse-files.ts'
import { askList } from '../../src/upstream/model-lists/ask-list.ts'

// Refusals whose reason no client sees in a header or a code.

const reason = (word: string) => expect.objectContaining({ reason: word })
const bounds = { jsonDepthMax: 100, jsonValuesMax: 1_000 }

describe('a WebSocket', () => {
  test('is refused where the process or the key is at its maximum', () => {
    const of = (socketsMax: number, keySocketsMax: number) =>
      new OpenSockets({ socketsMax, keySocketsMax, socketStatesBytesMax: 1 })
    expect(() => of(0, 1).requireRoom('k')).toThrow(reason('sockets_full'))
    expect(() => of(1, 0).requireRoom('k')).toThrow(reason('key_sockets_full'))
  })

  test('has one answer at a time, or as many as it has lanes', () => {
    expect(oneAtATime()).toMatchObject({ reason: 'socket_busy', code: 'response_in_progress' })
    expect(tooManyLanes('waiting')).toMatchObject({
      reason: 'socket_lanes_full',
      code: 'response_in_progress',
    })
  })

  test('takes no request for the background', () => {
    const frame = Buffer.from('{"type":"response.create","model":"m","background":true}')
    expect(() => readCreateFrame(frame, bounds)).toThrow(reason('frame_member_refused'))
  })
})

test('A compaction cannot be streamed.', () => {
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
  const received = { exchange: { headers: { 'x-tollgate-webhook': 'https://10.0.0.1/x' } } }
  const gateway = { privateWebhooks: false }
  expect(() => jobWebhook(gateway, received as unknown as Parameters<typeof jobWebhook>[1])).toThrow(
    reason('webhook_address_refused'),
  )
})

test('a file that the gateway keeps is refused where no one reads it', () => {
  const file = { file_id: `file-tg${'0'.repeat(32)}` }
  const body = { model: 'm', messages: [{ role: 'user', content: [{ type: 'file', file }] }] }
  expect(() => refuseFiles(body, 'openai-chat', 'here')).toThrow(reason('kept_files_not_read'))
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

test('half a summary is not a compaction', () => {
  const context = { model: 'm', requestId: 'r', body: {} } as AnswerContext
  const { encodeResponse } = compactionClient()
  const cut = [{ type: 'finish', reason: 'length' }] as unknown as ChatEvent[]
  expect(() => encodeResponse(cut, context)).toThrow(reason('compaction_incomplete'))
})

test('a model needs a channel, and a key its group', () => {
  const [model, group] = [{ offers: [] } as unknown as Model, { channels: ['*'] } as unknown as Group]
  expect(() => planRoute(model, 'm', group, 'openai-chat')).toThrow(reason('model_without_channel'))
  const snapshot = { groups: new Map() } as unknown as Parameters<typeof groupOf>[0]
  expect(() => groupOf(snapshot, 'gone')).toThrow(reason('key_group_gone'))
})

test('a model of which nothing was planned was not tried', () => {
  const [gateway, asked] = [] as unknown as Parameters<typeof noModelCan>
  expect(noModelCan(gateway, asked, []).reason).toBe('no_channel_tried')
})

test('a thread is not continued twice at once', async () => {
  const gateway = {
    bounds: {},
    heldAnswers: { isKnown: () => false },
    kept: { claim: async () => 'in-flight' },
  } as unknown as Parameters<typeof continueKept>[0]
  const identified = {
    identity: { keptDays: 1 },
    endpoint: formatAt('/v1/messages'),
    life: { releases: [] },
    books: { ledger: { instance: {} } },
  } as unknown as Parameters<typeof continueKept>[1]
  const content = {
    facts: { heldId: 'p', keepsAnswer: true, conversation: { start: 0, end: 2 } },
    body: Buffer.from('[]'),
  } as Parameters<typeof continueKept>[2]
  const [, , , reading] = [] as unknown as Parameters<typeof continueKept>
  await expect(continueKept(gateway, identified, content, reading)).rejects.toThrow(
    reason('thread_continue_in_flight'),
  )
})

test('money does not cover what hides its cost', () => {
  const asked = { facts: { hidesCost: 'background' } } as Parameters<typeof worstCaseOf>[0]
  expect(() => worstCaseOf(asked, [], {} as Parameters<typeof worstCaseOf>[2])).toThrow(
    reason('background_cost_unseen'),
  )
})

test('kept turns count for the bound of a body', async () => {
  const gateway = { bounds: { bodyBytesMax: 1 } } as Parameters<typeof readInstead>[0]
  const [, asked, , reading] = [] as unknown as Parameters<typeof readInstead>
  await expect(readInstead(gateway, asked, Buffer.alloc(2), reading)).rejects.toThrow(
    reason('kept_turns_too_large'),
  )
})

test('no conversation gets an answer that could not be copied', async () => {
  const admitted = {
    kept: { turn: {} },
    endpoint: { client: { state: { toKeep: { endSuffices: true, read: () => undefined } } } },
  }
  const [gateway, target] = [] as unknown as [Parameters<typeof keepTurn>[0], { native: boolean }]
  await expect(
    keepTurn(gateway, admitted as unknown as Parameters<typeof keepTurn>[1], target, {
      last: undefined,
      copy: undefined,
    }),
  ).rejects.toThrow(reason('answer_not_for_conversation'))
})

test('an upload whose client has left did not arrive', async () => {
  const gateway = {
    bounds: { fileBytesMax: 1 },
    bodies: { begin: () => ({ grow: () => {}, release: () => {} }) },
    files: { begin: async () => ({}), abandon: async () => {} },
  } as unknown as Parameters<typeof receiveUpload>[0]
  const request = Object.assign(new PassThrough(), { headers: {} }).destroy()
  const stage = { identity: {}, life: { releases: [] } } as unknown as Identified
  await expect(receiveUpload(gateway, stage, request as unknown as IncomingMessage, false)).rejects.toThrow(
    reason('request_cut'),
  )
})

test('an upload that was given up meanwhile is late', async () => {
  const options = {
    database: { answers: { ask: async () => [{ verdict: 'gone' }] } },
    bounds: { fileDays: 1 },
    cipher: { seal: () => Buffer.alloc(0) },
  }
  const files = new ClientFiles(options as unknown as ConstructorParameters<typeof ClientFiles>[0])
  const [begun, file] = [{ writer: {} }, { endUser: null }] as unknown as Parameters<typeof files.finish>
  await expect(files.finish(begun, file)).rejects.toThrow(reason('upload_late'))
})

test('a query ends when its client has left', async () => {
  const stage = { identity: { tenantId: 't' }, life: { clientGone: true } } as Parameters<typeof readFor>[0]
  await expect(readFor(stage, async ({ signal }) => signal.throwIfAborted())).rejects.toThrow(
    reason('client_left'),
  )
})

test('an answer that lasts ends when the rights of its caller change', async () => {
  vi.useFakeTimers()
  const caller = { role: 'owner', tenantId: null } as Actor
  const { signal } = watchCaller(caller, async () => ({ ...caller, role: 'member' }))
  await vi.advanceTimersToNextTimerAsync()
  vi.useRealTimers()
  expect(signal.reason).toMatchObject({ reason: 'rights_changed' })
})

test('a channel whose formats have no list of models has none', async () => {
  const [upstreams, bounds, channel] = [{}, { modelListMs: 1 }, { protocols: {} }] as unknown as Parameters<
    typeof askList
  >
  await expect(askList(upstreams, bounds, channel, { turn: 0 })).rejects.toThrow(
    reason('upstream_has_no_model_list'),
  )
})
