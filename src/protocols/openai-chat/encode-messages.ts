import type { Block, ReasoningBlock, Turn } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import { refused } from '../notes.ts'
import { isSameRound, pairToolResults, type Round } from '../pair-tool-results.ts'
import { unmarked } from '../prompt-marks.ts'
import { encodeCalls } from './encode-calls.ts'
import { encodePart, joinedTexts, marked } from './encode-parts.ts'
import { encodeReasoning } from './encode-reasoning.ts'
import { ExtraContents } from './extra-content.ts'
import type { MessagesContext } from './messages-context.ts'

/**
 * Encodes turns as messages. Consecutive assistant turns become one message, because the format requires all
 * calls in one message. Results directly follow their calls, and then the images and files that they contain,
 * in a user message.
 */
export function encodeMessages(turns: readonly Turn[], context: MessagesContext): Json[] {
  const settings = settingsOf(context)
  const messages = pairToolResults(turns, context.notes).flatMap((round) =>
    encodeOnce(round, settings, context),
  )
  // The vendor refuses an empty list, but not an empty user message.
  if (messages.length === 0) return [{ role: 'user', content: '' }]
  return context.severalInstructions ? messages : joinLeading(messages)
}

/** Encodes a round, unless it is one of a remembered conversation that was encoded before. */
function encodeOnce(round: Round, settings: string, context: MessagesContext): readonly Json[] {
  const { memo, notes, marks, tools } = context
  const first = round.assistant[0] ?? round.others[0]
  if (memo === undefined || first === undefined) return encodeRound(round, context)
  const known = memo.encoded.get(first)
  if (known !== undefined && known.settings === settings && isSameRound(known.round, round)) {
    for (const note of known.notes) notes.list.push(note)
    for (const { call } of round.calls) tools.wireName(call, call.path)
    return known.messages
  }
  const before = { notes: notes.list.length, hints: marks.hints }
  const messages = encodeRound(round, context)
  // How many hints there may be depends on the other rounds.
  if (marks.hints !== before.hints) return messages
  memo.encoded.set(first, { settings, round, messages, notes: notes.list.slice(before.notes) })
  for (const message of messages) memo.written.set(message, 'wanted')
  return messages
}

/** What the encoding of a round depends on besides the round. */
function settingsOf(context: MessagesContext): string {
  const { upstreamModel, customTools, developerRole, textParts, callIds } = context
  return JSON.stringify([upstreamModel, customTools, developerRole, textParts, callIds])
}

/** Encodes one round, which does not depend on any other round. */
function encodeRound(round: Round, context: MessagesContext): Json[] {
  return [
    ...encodeAssistant(round, context),
    ...round.others.flatMap((turn) =>
      turn.role === 'user' ? encodeUser(turn, context) : encodeInstruction(turn, context),
    ),
  ]
}

function encodeAssistant({ assistant, calls: answered }: Round, context: MessagesContext): Json[] {
  const extras = new ExtraContents(assistant, context.upstreamModel)
  const { calls, results } = encodeCalls(answered, extras, context)
  const said: Said = { texts: [], mark: unmarked, refusal: '', reasoning: [] }
  for (const { blocks } of assistant) addBlocks(blocks, said, context)
  const reasoning = encodeReasoning(said.reasoning, { hasCalls: calls.length > 0, ...context })
  const texts = said.texts.filter((text) => text !== '')
  const isEmpty = texts.length === 0 && said.refusal === '' && calls.length === 0
  if (isEmpty && reasoning.reasoning_details === undefined) return results
  const message: Json = { role: 'assistant', content: contentOf(texts, isEmpty, said.mark, context) }
  if (said.refusal !== '') message.refusal = said.refusal
  Object.assign(message, reasoning, extras.forMessage())
  if (calls.length > 0) message.tool_calls = calls
  return [message, ...results]
}

/** The content of an assistant message. */
interface Said {
  texts: string[]
  /** The cache mark of the last text that has one. */
  mark: Json
  refusal: string
  reasoning: ReasoningBlock[]
}

function addBlocks(blocks: readonly Block[], said: Said, { notes, marks }: MessagesContext): void {
  let isInText = false
  for (const block of blocks) {
    if (block.type === 'text') {
      if (block.cache) said.mark = { ...said.mark, ...marks.mark(block, 'assistant') }
    } else if (block.cache) notes.add('dropped', block.path, 'the format does not support a cache hint here')
    switch (block.type) {
      case 'text':
        // Adjacent text blocks are joined to one text, because some vendors split a text at its citations.
        if (isInText) said.texts.push((said.texts.pop() ?? '') + block.text)
        else said.texts.push(block.text)
        break
      case 'refusal':
        said.refusal += block.text
        break
      case 'reasoning':
        said.reasoning.push(block)
        break
      case 'foreign':
        notes.other(block)
        break
      case 'tool-call':
      case 'tool-result':
        break
      case 'image':
      case 'document':
      case 'audio':
        throw refused(block.path, 'assistant messages of the Chat Completions format can contain only text')
    }
    if (block.type !== 'reasoning' || block.text !== '') isInText = block.type === 'text'
  }
}

/** Separate texts become parts. Many servers accept only one text, so there they become paragraphs. */
function contentOf(
  texts: readonly string[],
  isEmpty: boolean,
  mark: Json,
  { textParts }: MessagesContext,
): unknown {
  if (texts.length === 0) return isEmpty ? '' : null
  if (mark === unmarked && !(texts.length > 1 && textParts)) return texts.join('\n\n')
  const parts = marked(
    texts.map((text) => ({ type: 'text', text })),
    mark,
  )
  return texts.length > 1 && textParts ? parts : joinedTexts(parts, '\n\n')
}

function encodeUser({ blocks }: Turn, { notes, marks, textParts }: MessagesContext): Json[] {
  const parts = blocks.flatMap((block) => marked(encodePart(block, notes), marks.mark(block)))
  if (parts.length === 0) return []
  const full = parts.filter(({ text }) => text !== '')
  const isOneText = (full.length < 2 || !textParts) && full.every(({ type }) => type === 'text')
  return [{ role: 'user', content: isOneText ? joinedTexts(full, '\n\n') : full }]
}

function encodeInstruction(turn: Turn, { notes, marks, developerRole }: MessagesContext): Json[] {
  const texts: Json[] = []
  for (const block of turn.blocks) {
    const mark = marks.mark(block)
    if (block.type === 'foreign') notes.other(block)
    else if (block.type !== 'text') {
      throw refused(block.path, 'instructions in the Chat Completions format can contain only text')
    } else if (block.text !== '') texts.push({ type: 'text', text: block.text, ...mark })
  }
  if (texts.length === 0) return []
  const isDeveloper = turn.role === 'developer'
  // The vendor treats both roles alike. Most others know only `system`.
  if (isDeveloper && !developerRole) {
    notes.add('mapped', turn.path, 'sent with the role "system": few upstreams support "developer"')
  }
  return [
    { role: isDeveloper && developerRole ? 'developer' : 'system', content: joinedTexts(texts, '\n\n') },
  ]
}

/** Joins leading instructions into one message, for upstreams that accept only one. */
function joinLeading(messages: Json[]): Json[] {
  const firstOther = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer')
  const leading = firstOther === -1 ? messages : messages.slice(0, firstOther)
  const [first] = leading
  if (first === undefined || leading.length === 1) return messages
  const parts = leading.flatMap(({ content }) =>
    Array.isArray(content) ? content : { type: 'text', text: content },
  )
  const content = joinedTexts(parts, '\n\n')
  return [{ ...first, content }, ...messages.slice(leading.length)]
}
