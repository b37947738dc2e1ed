import type { ChunkedPlan, SeenRequest } from './upstream.ts'
import { frame } from './upstream-plans.ts'

/** A stream in the format of the called path. It says one word, then it goes on with `then`. */
export function begun(
  { path }: SeenRequest,
  then: string[],
  ending: ChunkedPlan['ending'] = 'end',
): ChunkedPlan {
  const chunks = isMessages(path) ? messagesBeginning : isResponses(path) ? responsesBeginning : chatBeginning
  return { chunks: [...chunks, ...then], ending }
}

/** An error inside a stream, in the format of the called path. */
export function errorFrame({ path }: SeenRequest, type: string): string {
  const error = { type, message: 'It said so.' }
  if (isMessages(path)) return event({ type: 'error', error })
  if (!isResponses(path)) return frame({ error })
  return event({
    type: 'response.failed',
    response: { ...response, status: 'failed', error: { code: type, message: error.message } },
  })
}

const isMessages = (path: string) => path.endsWith('/messages')
const isResponses = (path: string) => path.endsWith('/responses')

function event(data: { type: string; [member: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
}

const chatBeginning = [
  frame({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    model: 'up',
    choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: null }],
  }),
]

const response = { id: 'resp_1', object: 'response', model: 'up', output: [], status: 'in_progress' }
const responsesBeginning = [
  event({ type: 'response.created', response }),
  event({
    type: 'response.output_item.added',
    output_index: 0,
    item: { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] },
  }),
  event({
    type: 'response.content_part.added',
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    part: { type: 'output_text', text: '', annotations: [] },
  }),
  event({
    type: 'response.output_text.delta',
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    delta: 'Hello',
  }),
]

const messagesBeginning = [
  event({
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'up',
      content: [],
      stop_reason: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  }),
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } }),
]
