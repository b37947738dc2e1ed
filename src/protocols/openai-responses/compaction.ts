import { gatewayError } from '../../canonical/error.ts'
import type { ChatEvent } from '../../canonical/event.ts'
import { isRecord, type Json, recordsOf, textOf } from '../../canonical/json.ts'
import type { AnswerContext, ClientSide } from '../protocol.ts'
import { encodeResponse } from './encode-answer.ts'
import { readRequest } from './request.ts'

/**
 * `POST /v1/responses/compact` for models without such an endpoint: the model is asked for a summary of the
 * conversation. The answer consists of the user's messages and one item with the summary, sealed in our
 * envelope. Later requests send these in place of the turns.
 *
 * https://platform.openai.com/docs/api-reference/responses/compact, read 2026-11-23
 */
export function compacting(client: ClientSide): ClientSide {
  return {
    ...client,
    readRequest(raw, bounds) {
      const facts = readRequest(raw, bounds)
      if (facts.stream) {
        throw gatewayError('compaction_not_streamed', {}, { field: 'stream' })
      }
      return { ...facts, outputBound: undefined, keepsAnswer: false }
    },
    decodeRequest: (body, context) => client.decodeRequest(summaryRequest(body), context),
    answerSettings: (body) => ({ input: usersMessages(body.input) }),
    encodeResponse: encodeCompaction,
    encodeStream() {
      throw new Error('A compaction cannot be streamed.')
    },
  }
}

function summaryRequest(body: Json): Json {
  const { model, input, instructions, prompt_cache_key, service_tier } = body
  const items: unknown[] =
    typeof input === 'string' ? [{ role: 'user', content: input }] : Array.isArray(input) ? input : []
  const given = textOf(instructions)
  return {
    model,
    instructions:
      given === undefined ? task : `${task}\n\nThe instructions of the conversation were:\n\n${given}`,
    input: [...items, { role: 'user', content: 'Write the summary now.' }],
    ...(prompt_cache_key === undefined ? {} : { prompt_cache_key }),
    ...(service_tier === undefined ? {} : { service_tier }),
  }
}

const task = [
  'Summarize the conversation for a model that will continue it and sees nothing else of it except the messages of the user.',
  'Keep what it needs: the goal, what the user asked and decided, what was done and found, names, paths, numbers and identifiers exactly as they are,',
  'tool results that still matter, what remains open, and the next step. Do not answer the user and do not call tools. Write plain text only.',
].join(' ')

function encodeCompaction(events: readonly ChatEvent[], context: AnswerContext): Json {
  const response = encodeResponse(events, context)
  const summary = recordsOf(response.output)
    .filter(({ type }) => type === 'message')
    .flatMap(({ content }) => recordsOf(content))
    .map(({ text }) => textOf(text) ?? '')
    .join('')
    .trim()
  if (response.status !== 'completed' || summary === '') {
    throw gatewayError('compaction_incomplete')
  }
  const hash = context.requestId.replaceAll('-', '')
  return {
    id: response.id,
    object: 'response.compaction',
    created_at: response.created_at,
    output: [
      ...recordsOf(context.body.input),
      { type: 'compaction', id: `cmp_${hash}`, encrypted_content: context.envelope.wrapSummary(summary) },
    ],
    usage: response.usage,
  }
}

/** The user's messages as items of an answer. */
function usersMessages(input: unknown): Json[] {
  if (typeof input === 'string') return [userMessage([{ type: 'input_text', text: input }], 0)]
  if (!Array.isArray(input)) return []
  return input
    .filter((item): item is Json => isRecord(item) && item.role === 'user')
    .map(({ content }, at) =>
      userMessage(typeof content === 'string' ? [{ type: 'input_text', text: content }] : content, at),
    )
}

function userMessage(content: unknown, at: number): Json {
  return { id: `msg_${at}`, type: 'message', status: 'completed', role: 'user', content }
}
