import { gatewayError } from '../../canonical/error.ts'
import type { History, ProtocolState, StateFacts } from '../protocol-state.ts'
import { removeMembers } from '../remove-members.ts'
import { splice } from '../splice.ts'
import { answerToKeep } from './answer-to-keep.ts'

const ofPrevious = { field: 'thread.previous_message_id' }
const notFound = () => gatewayError('thread_not_found', {}, ofPrevious)

/**
 * Threads. The codes are those of `ThreadState` in @anthropic-ai/sdk 1.12, which begins a new thread with the
 * whole conversation on any of them.
 */
export const state: ProtocolState = {
  previousMember: 'thread',
  storeMember: 'thread',
  unstored: 'leave "thread" out',
  toKeep: { endSuffices: false, read: answerToKeep },
  itemsIn,
  headIn,
  withHistory,
  refusals: {
    unknown: notFound,
    broken: notFound,
    tooLong: (bytesMax) =>
      gatewayError(
        'kept_chain_too_long',
        { member: 'thread', turns: 'messages', bytesMax },
        { field: 'thread' },
      ),
  },
  continuedOnce: {
    continued: () => gatewayError('thread_already_continued', {}, ofPrevious),
    running: () => gatewayError('thread_continue_in_flight', {}, ofPrevious),
    full: () =>
      gatewayError(
        'thread_unsupported_request',
        {},
        { field: 'thread', details: { unsupported: ['thread'] } },
      ),
  },
}

function itemsIn(body: Buffer, { conversation }: Pick<StateFacts, 'conversation'>): string {
  return conversation === undefined
    ? ''
    : body.toString('utf8', conversation.start + 1, conversation.end - 1).trim()
}

function headIn(body: Buffer, { thread }: StateFacts): string {
  return Object.entries(thread?.head ?? {})
    .map(([name, { start, end }]) => `${JSON.stringify(name)}:${body.toString('utf8', start, end)}`)
    .join(',')
}

function withHistory(body: Buffer, facts: StateFacts, { items, head = '' }: History): Buffer {
  const { thread, conversation } = facts
  if (thread === undefined || conversation === undefined) return body
  const removed = removeMembers(body, [thread.span]).map((each) => ({ ...each, bytes: Buffer.alloc(0) }))
  if (items === '') return splice(body, removed, Buffer.allocUnsafe)
  const messages = [items, itemsIn(body, facts)].filter((each) => each !== '').join(',')
  const bytes = Buffer.from(`[${messages}]${head === '' ? '' : `,${head}`}`)
  return splice(body, [{ ...conversation, bytes }, ...removed], Buffer.allocUnsafe)
}
