import { gatewayError } from '../../src/canonical/error.ts'
import type { ChatEvent } from '../../src/canonical/event.ts'
import { type Json, parseObject, recordsOf, textOf } from '../../src/canonical/json.ts'
import { type ModelEndpoint, modelEndpoints } from '../../src/pipeline/endpoints.ts'
import { clientSide, protocols } from '../../src/protocols/index.ts'
import { parseSpan } from '../../src/protocols/json-scan.ts'
import type { AnswerContext, Protocol, RequestFacts } from '../../src/protocols/protocol.ts'
import type { NewItem, ProtocolState, StateFacts } from '../../src/protocols/protocol-state.ts'
import { readBoolean, readModel, scanBody } from '../../src/protocols/scan-facts.ts'
import { splice } from '../../src/protocols/splice.ts'

/**
 * A made-up format of telegrams, with words of its own: `{model, wire, reply_to, file, stream}` is answered by
 * `{telegram, wire}`, where `wire` is a list of `{by, words}`. `file` keeps the answer, and `reply_to` continues it.
 */

export const path = '/v1/telegrams'
const name = 'telegram' as unknown as Protocol['name']
const chat = clientSide('openai-chat')

/**
 * Registers the format, as a line in each registry does for the others. Call the answer when the test has ended: other files may
 * run in this process.
 */
export function registerTelegrams(): () => void {
  const endpoint: ModelEndpoint = {
    ...{
      method: 'POST',
      kind: 'text',
      operation: 'chat',
      path,
      protocol: name,
      summary: 'Telegrams',
      reference: 'none',
    },
  }
  const endpoints = modelEndpoints as ModelEndpoint[]
  Object.assign(protocols, { [name]: telegram })
  endpoints.push(endpoint)
  return () => {
    Reflect.deleteProperty(protocols, name)
    endpoints.splice(endpoints.indexOf(endpoint), 1)
  }
}

function refused(field: string, problem: string) {
  return gatewayError('field_invalid', { path: field, problem }, { field })
}

const state: ProtocolState = {
  previousMember: 'reply_to',
  storeMember: 'file',
  unstored: 'leave "file" out',
  toKeep: {
    endSuffices: true,
    read(bytes) {
      const answer = parseObject(bytes.toString('utf8').replace(/^data: /, ''))
      const id = textOf(answer?.telegram)
      if (answer === undefined || id === undefined) return undefined
      return { id, output: JSON.stringify(answer.wire).slice(1, -1), answer }
    },
  },
  itemsIn,
  withHistory(body, facts, { items }) {
    if (facts.heldSpan === undefined || facts.conversation === undefined) return body
    const wire = `[${[items, itemsIn(body, facts)].filter((each) => each !== '').join(',')}]`
    const edits = [
      { ...facts.heldSpan, bytes: Buffer.from('null') },
      { ...facts.conversation, bytes: Buffer.from(wire) },
    ]
    return splice(body, edits, Buffer.allocUnsafe)
  },
  refusals: {
    unknown: () => refused('reply_to', 'no such telegram'),
    broken: () => refused('reply_to', 'a telegram before it is gone'),
    tooLong: () => refused('reply_to', 'too long'),
  },
  items: {
    added,
    answered: added,
    shown: (id, item) => ({ ...item, line: id }),
    idPrefix: () => 'line',
    faultOf: () => undefined,
  },
  answers: {
    path,
    upstreamPath: '/telegrams',
    itemsBelow: '/lines',
    forwarded: [],
    resumes: 'from',
    deleted: (id) => ({ telegram: id, torn: true }),
  },
}

const telegram: Protocol = {
  name,
  client: {
    ...chat,
    state,
    turnsMember: 'wire',
    readRequest(raw, bounds): RequestFacts {
      const { model, wire, reply_to, file, stream } = scanBody(
        raw,
        ['model', 'wire', 'reply_to', 'file', 'stream'],
        bounds,
      )
      const heldId = reply_to === undefined ? undefined : textOf(parseSpan(raw, reply_to, 'reply_to'))
      return {
        model: readModel(raw, model),
        stream: readBoolean(raw, stream, 'stream'),
        maxOutputTokens: undefined,
        outputBound: undefined,
        choices: 1,
        wantsUsageFrame: true,
        conversation: wire,
        heldId,
        heldSpan: heldId === undefined ? undefined : reply_to,
        keepsAnswer: readBoolean(raw, file, 'file'),
        session: undefined,
        spans: undefined,
      }
    },
    decodeRequest({ model, wire, stream = false }, context) {
      const messages = recordsOf(wire).map(({ by, words }) => ({
        role: by === 'station' ? 'assistant' : 'user',
        content: words,
      }))
      return chat.decodeRequest({ model, messages, stream }, context)
    },
    answerSettings: () => ({}),
    encodeResponse: answerOf,
    encodeStream(context) {
      const events: ChatEvent[] = []
      return {
        push(event) {
          events.push(event)
          return event.type === 'finish' ? `data: ${JSON.stringify(answerOf(events, context))}\n\n` : ''
        },
      }
    },
  },
}

function itemsIn(body: Buffer, { conversation }: Pick<StateFacts, 'conversation'>): string {
  return conversation === undefined ? '' : body.toString('utf8', conversation.start + 1, conversation.end - 1)
}

function added(items: readonly Json[]): NewItem[] {
  return items.map((item, at) => ({ id: `line_${at}`, text: JSON.stringify(item), isSent: true }))
}

function answerOf(events: readonly ChatEvent[], { requestId }: AnswerContext): Json {
  const words = events
    .map((event) => (event.type === 'block-delta' && event.delta.type === 'text' ? event.delta.text : ''))
    .join('')
  return { telegram: `tg-${requestId}`, wire: [{ by: 'station', words }] }
}
