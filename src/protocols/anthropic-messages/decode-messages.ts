import type { Block, TextBlock, Turn } from '../../canonical/chat.ts'
import { invalid, wrongType } from '../../canonical/field-error.ts'
import { Members } from '../members.ts'
import type { DecodedTurn } from '../turn-memo.ts'
import { UnmappedFields } from '../unmapped-fields.ts'
import { type BlockContext, decodeBlocks, readCache } from './decode-blocks.ts'
import { leadingSystemAdvice } from './wire.ts'

/** The top-level `system`: text or a list of text blocks. */
export function decodeSystem(body: Members): Turn[] {
  if (!body.has('system')) return []
  const blocks = decodeTexts(body).flatMap((block) => withoutBilling(block, body.unmapped))
  return blocks.length === 0 ? [] : [{ role: 'system', blocks, path: 'system' }]
}

/**
 * The turns in `messages`. Throws if the first message is a system message, which this format does not allow.
 */
export function decodeMessages(body: Members, context: BlockContext): Turn[] {
  const messages = body.objects('messages') ?? []
  if (messages.length === 0) throw invalid('messages', 'expected a non-empty array of messages')
  return messages.map((message, at) => {
    const { turn, unmapped, tools } = decodeOnce(message, at === 0, context)
    for (const field of unmapped) body.unmapped.list.push(field)
    for (const tool of tools) context.seenTools.add(tool)
    return turn
  })
}

/** Decodes a message, unless it is one of a remembered conversation that was decoded before. */
function decodeOnce(message: Members, isFirst: boolean, { envelope, memo }: BlockContext): DecodedTurn {
  const known = memo?.decoded.get(message.value)
  if (known !== undefined) return known
  const unmapped = new UnmappedFields()
  const own = new Members(message.value, message.path, unmapped)
  const tools = new Set<string>()
  const turn = decodeMessage(own, { envelope, seenTools: tools })
  if (isFirst && turn.role === 'system') throw invalid(own.pathOf('role'), leadingSystemAdvice)
  own.noteRest(messageLosses)
  const decoded = { turn, unmapped: unmapped.list, tools }
  memo?.decoded.set(message.value, decoded)
  return decoded
}

const messageLosses = {
  output_config: 'other formats have no settings for single messages',
  clear_at: 'other formats keep every turn',
}

function decodeMessage(message: Members, context: BlockContext): Turn {
  const role = message.requiredWord('role', ['user', 'assistant', 'system'])
  const { path, unmapped } = message
  if (role !== 'system') return { role, blocks: decodeContent(message, context), path }
  const content = message.has('content') ? decodeContent(message, context) : []
  const blocks = content.flatMap((block): Block[] =>
    block.type === 'text' ? withoutBilling(block, unmapped) : [block],
  )
  return { role, blocks, path }
}

function decodeContent(message: Members, context: BlockContext): Block[] {
  const content = message.any('content')
  const path = message.pathOf('content')
  if (typeof content === 'string') return [{ type: 'text', text: content, path }]
  if (!Array.isArray(content)) throw wrongType(content, path, 'a string or an array of blocks')
  return decodeBlocks(message.requiredObjects('content'), context)
}

function decodeTexts(body: Members): TextBlock[] {
  const system = body.any('system')
  if (typeof system === 'string') return [{ type: 'text', text: system, path: 'system' }]
  if (!Array.isArray(system)) throw wrongType(system, 'system', 'a string or an array of text blocks')
  return body.requiredObjects('system').map((block) => {
    block.word('type', ['text'])
    const text = block.requiredText('text')
    const read: TextBlock = { type: 'text', text, path: block.path, ...readCache(block) }
    block.noteRest({ citations: 'other formats do not accept sources of earlier answers' })
    return read
  })
}

/**
 * The vendor's coding agent sends a billing line first. It changes with every request, so other vendors could
 * not cache the text after it.
 */
function withoutBilling(block: TextBlock, unmapped: UnmappedFields): TextBlock[] {
  if (!block.text.startsWith('x-anthropic-billing-header:')) return [block]
  unmapped.drop(
    block.path,
    'the billing line is meant for its own vendor and would prevent caching at others',
  )
  const end = block.text.indexOf('\n')
  return end === -1 ? [] : [{ ...block, text: block.text.slice(end + 1) }]
}
