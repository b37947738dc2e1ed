import type { Block, ReasoningBlock, Turn } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import { type Notes, refused } from '../notes.ts'
import type { ToolNames } from '../tool-names.ts'
import { CallBook } from './encode-calls.ts'
import { encodePart, noteCache } from './encode-parts.ts'
import { encodeReasoning } from './encode-reasoning.ts'

export interface MessagesContext {
  notes: Notes
  tools: ToolNames
  upstreamModel: string
}

/**
 * Encode turns as messages. Consecutive assistant turns become one message, because the format wants all calls in one.
 * Results follow directly after their calls, wherever the client had them. Images and files of results follow in a user
 * message. Throws GatewayError `invalid_request` for a result without a call.
 */
export function encodeMessages(turns: readonly Turn[], context: MessagesContext): Json[] {
  const items: Item[] = []
  const calls = new CallBook(context)
  for (const turn of turns) {
    if (turn.role === 'assistant') addAssistant(turn, items, calls, context)
    else addOther(turn, items, calls, context)
  }
  const messages = items.flatMap((item) =>
    item.type === 'assistant' ? finishAssistant(item, calls, context) : [item.message],
  )
  // The vendor refuses an empty list, but not an empty user message.
  return messages.length === 0 ? [{ role: 'user', content: '' }] : messages
}

type Item = Assistant | { type: 'other'; message: Json }

/** An assistant message that is not complete yet. */
interface Assistant {
  type: 'assistant'
  content: string
  /** True if the block before was text: the next text continues it. */
  isInText: boolean
  refusal: string
  reasoning: ReasoningBlock[]
  /** The group of its calls. */
  group: number
}

function addAssistant(turn: Turn, items: Item[], calls: CallBook, context: MessagesContext): void {
  const last = items.at(-1)
  let message: Assistant
  if (last?.type === 'assistant' && !calls.hasResults(last.group)) {
    message = last
    message.isInText = false
  } else {
    const group = calls.startGroup()
    message = { type: 'assistant', content: '', isInText: false, refusal: '', reasoning: [], group }
    items.push(message)
  }
  for (const block of turn.blocks) {
    addAssistantBlock(block, message, calls, context)
    if (block.type !== 'reasoning' || block.text !== '') message.isInText = block.type === 'text'
  }
}

function addAssistantBlock(
  block: Block,
  message: Assistant,
  calls: CallBook,
  { notes }: MessagesContext,
): void {
  noteCache(block, notes)
  switch (block.type) {
    case 'text':
      // Adjacent text blocks are one text: some vendors split a text at its citations. Other texts of a message are
      // paragraphs.
      message.content += message.isInText || message.content === '' || block.text === '' ? '' : '\n\n'
      message.content += block.text
      return
    case 'refusal':
      message.refusal += block.text
      return
    case 'reasoning':
      message.reasoning.push(block)
      return
    case 'tool-call':
      calls.addCall(block)
      return
    case 'tool-result':
      calls.addResult(block)
      return
    case 'foreign':
      notes.other(block)
      return
    case 'image':
    case 'document':
    case 'audio':
      throw refused(block.path, 'the Chat Completions format takes only text from the assistant')
  }
}

function finishAssistant(item: Assistant, calls: CallBook, context: MessagesContext): Json[] {
  const written = calls.write(item.group)
  const reasoning = encodeReasoning(item.reasoning, { hasCalls: written.calls.length > 0, ...context })
  const isEmpty = item.content === '' && item.refusal === '' && written.calls.length === 0
  if (isEmpty && reasoning.reasoning_details === undefined) return []
  const message = {
    role: 'assistant',
    content: item.content === '' && !isEmpty ? null : item.content,
    ...(item.refusal === '' ? {} : { refusal: item.refusal }),
    ...reasoning,
    ...(written.calls.length === 0 ? {} : { tool_calls: written.calls }),
  }
  return [message, ...written.results]
}

function addOther(turn: Turn, items: Item[], calls: CallBook, { notes }: MessagesContext): void {
  const isUser = turn.role === 'user'
  const parts: Json[] = []
  for (const block of turn.blocks) {
    noteCache(block, notes)
    if (block.type === 'tool-result') calls.addResult(block)
    else if (!isUser && block.type !== 'text') refuseInInstructions(block, notes)
    else parts.push(...encodePart(block, notes))
  }
  const full = parts.filter(({ text }) => text !== '')
  if (isUser && parts.length > 0) {
    const [only] = full
    const content = only === undefined ? '' : full.length === 1 && only.type === 'text' ? only.text : full
    items.push({ type: 'other', message: { role: 'user', content } })
  }
  if (isUser || full.length === 0) return
  // The vendor treats both roles alike; most others know only `system`.
  if (turn.role === 'developer')
    notes.add('mapped', turn.path, 'the role is "system": few upstreams know another')
  items.push({
    type: 'other',
    message: { role: 'system', content: full.map(({ text }) => text).join('\n\n') },
  })
}

function refuseInInstructions(block: Block, notes: Notes): void {
  if (block.type === 'foreign') notes.other(block)
  else throw refused(block.path, 'the Chat Completions format takes only text as instructions')
}
