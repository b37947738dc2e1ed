import type { Turn } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import type { Traits } from '../../canonical/traits.ts'
import type { Notes } from '../notes.ts'

/** Adapts messages to vendors with additional rules for conversations. */
export function fitMessages(
  messages: readonly Json[],
  turns: readonly Turn[],
  traits: Traits,
  notes: Notes,
): Json[] {
  const fitted = messages.map((message) => fitThoughts(message, traits))
  return traits.userAfterToolResults === false ? bridgeResults(fitted, turns, notes) : fitted
}

/** Adds the reasoning member to messages with calls if it is required, or removes it if it is refused. */
function fitThoughts(message: Json, { thoughtsInHistory }: Traits): Json {
  if (message.role !== 'assistant') return message
  if (thoughtsInHistory === 'refused') {
    const { reasoning_content: _content, reasoning: _text, reasoning_details: _details, ...others } = message
    return others
  }
  if (thoughtsInHistory === undefined || message.tool_calls === undefined) return message
  return { reasoning_content: thoughtsInHistory === 'text' ? ' ' : '', ...message }
}

/** Inserts an assistant message between tool results and a user message. */
function bridgeResults(messages: readonly Json[], turns: readonly Turn[], notes: Notes): Json[] {
  let isBridged = false
  const bridged = messages.flatMap((message, at) => {
    const isAfterResults = messages[at - 1]?.role === 'tool'
    if (!isAfterResults || message.role === 'tool' || message.role === 'assistant') return [message]
    isBridged = true
    return [{ role: 'assistant', content: 'I have the results.' }, message]
  })
  if (isBridged) {
    notes.add(
      'emulated',
      // The client's name for the conversation, such as `messages` in `messages[3].content`.
      turns[0]?.path.replace(/\W.*$/, '') ?? '',
      'the upstream does not accept a user message directly after tool results: an assistant message is inserted between them',
    )
  }
  return bridged
}
