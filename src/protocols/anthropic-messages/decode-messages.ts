import type { Block, TextBlock, Turn, UnmappedField } from '../../canonical/chat.ts'
import { invalid } from '../json-scan.ts'
import { type BlockContext, decodeBlocks, readCache } from './decode-blocks.ts'
import { type Members, membersOf, wrong } from './shape.ts'
import { leadingSystemAdvice } from './wire.ts'

/** The top-level `system`: a text or a list of text blocks. */
export function decodeSystem(value: unknown, others: UnmappedField[]): Turn[] {
  if (value === undefined || value === null) return []
  const blocks = decodeTexts(value, 'system', others).flatMap((block) => withoutBilling(block, others))
  return blocks.length === 0 ? [] : [{ role: 'system', blocks, path: 'system' }]
}

/** The turns of `messages`. Throws for a leading system message, which the format does not have. */
export function decodeMessages(body: Members, context: BlockContext): Turn[] {
  const messages = body.objects('messages')
  if (messages.length === 0) throw invalid('messages', 'expected a non-empty array of messages')
  return messages.map((message, at) => {
    const turn = decodeMessage(message, context)
    if (at === 0 && turn.role === 'system') throw invalid(message.pathOf('role'), leadingSystemAdvice)
    message.rest(context.others)
    return turn
  })
}

function decodeMessage(message: Members, context: BlockContext): Turn {
  const role = message.requiredText('role')
  const content = message.any('content')
  const path = message.pathOf('content')
  switch (role) {
    case 'user':
    case 'assistant':
      return { role, blocks: decodeContent(content, path, context), path: message.path }
    case 'system': {
      const { others } = context
      message.drop(others, {
        output_config: 'other formats have no settings of a single message',
        clear_at: 'other formats keep every turn',
      })
      const blocks: Block[] =
        content === undefined
          ? []
          : decodeContent(content, path, context).flatMap((block): Block[] =>
              block.type === 'text' ? withoutBilling(block, others) : [block],
            )
      return { role, blocks, path: message.path }
    }
    default:
      throw invalid(
        message.pathOf('role'),
        `expected "user", "assistant" or "system", got ${JSON.stringify(role.slice(0, 40))}`,
      )
  }
}

function decodeContent(content: unknown, path: string, context: BlockContext): Block[] {
  if (typeof content === 'string') return [{ type: 'text', text: content, path }]
  if (Array.isArray(content)) return decodeBlocks(content, path, context)
  throw wrong(path, 'a string or an array of blocks', content)
}

function decodeTexts(value: unknown, path: string, others: UnmappedField[]): TextBlock[] {
  if (typeof value === 'string') return [{ type: 'text', text: value, path }]
  if (!Array.isArray(value)) throw wrong(path, 'a string or an array of text blocks', value)
  return value.map((item, at) => {
    const block = membersOf(item, `${path}[${at}]`)
    const type = block.text('type') ?? 'text'
    if (type !== 'text') throw invalid(block.pathOf('type'), 'expected "text"')
    const text = block.requiredText('text')
    const read: TextBlock = { type: 'text', text, path: block.path, ...readCache(block, others) }
    block.drop(others, { citations: 'sources of what was said before do not travel' })
    block.rest(others)
    return read
  })
}

/**
 * The vendor's coding agent puts a line for its billing before everything else. It changes with every request, so
 * that no other vendor could cache what stands behind it.
 */
function withoutBilling(block: TextBlock, others: UnmappedField[]): TextBlock[] {
  if (!block.text.startsWith('x-anthropic-billing-header:')) return [block]
  others.push({
    path: block.path,
    verdict: 'drop',
    reason: 'the billing line is for its own vendor and would spoil the cache of others',
  })
  const end = block.text.indexOf('\n')
  return end === -1 ? [] : [{ ...block, text: block.text.slice(end + 1) }]
}
