import { gatewayError } from '../../canonical/error.ts'
import { type ByteRange, kindAt } from '../json-scan.ts'
import type { History, ProtocolState, StateFacts, StateRefusals } from '../protocol-state.ts'
import { splice } from '../splice.ts'
import { answerToKeep } from './answer-to-keep.ts'
import { background } from './background.ts'
import { itemForm, newId } from './items.ts'
import { nameConversation } from './name-conversation.ts'
import { sockets } from './sockets.ts'

const previousMember = 'previous_response_id'
const words = { member: previousMember, turns: 'input' }
const field = previousMember

const refusals: StateRefusals = {
  unknown: (id, advice) => gatewayError('previous_response_not_found', { ...words, id, advice }, { field }),
  broken: (id) => gatewayError('previous_response_deleted', { ...words, id }, { field }),
  tooLong: (bytesMax) => gatewayError('kept_chain_too_long', { ...words, bytesMax }, { field }),
}

/** Stored answers and conversations. */
export const state: ProtocolState = {
  previousMember,
  storeMember: 'store',
  unstored: 'send "store": false',
  toKeep: { endSuffices: true, read: answerToKeep },
  itemsIn,
  withHistory,
  refusals,
  background,
  sockets,
  items: itemForm,
  answers: {
    path: '/v1/responses',
    upstreamPath: '/responses',
    itemsBelow: '/input_items',
    forwarded: ['include', 'include[]', 'starting_after'],
    resumes: 'starting_after',
    deleted: (id) => ({ id, object: 'response', deleted: true }),
  },
  conversations: {
    member: 'conversation',
    newId: () => newId('conv'),
    nameIn: nameConversation,
    // Conversations created directly at the vendor are in an account that tenants share, so we cannot tell
    // which tenant owns one.
    refused: () => gatewayError('conversation_not_continuable', {}, { field: 'conversation' }),
  },
}

/** The items of `input`, which is an array of items or one user text. */
function itemsIn(body: Buffer, { conversation: input }: Pick<StateFacts, 'conversation'>): string {
  if (input === undefined || kindAt(body, input.start) === 'null') return ''
  const text = body.toString('utf8', input.start, input.end)
  if (kindAt(body, input.start) === 'string') return `{"type":"message","role":"user","content":${text}}`
  return text.slice(1, -1).trim()
}

function withHistory(body: Buffer, facts: StateFacts, { items, before }: History): Buffer {
  const named: ByteRange | undefined = facts.heldSpan ?? facts.runsIn?.span
  if (named === undefined) return body
  const { conversation: input } = facts
  const continued = before === undefined ? 'null' : JSON.stringify(before)
  const all = `[${[items, itemsIn(body, facts)].filter((each) => each !== '').join(',')}]`
  const edits =
    input === undefined
      ? [{ ...named, bytes: Buffer.from(`${continued},"input":${all}`) }]
      : [
          { ...named, bytes: Buffer.from(continued) },
          { ...input, bytes: Buffer.from(all) },
        ]
  return splice(body, edits, Buffer.allocUnsafe)
}
