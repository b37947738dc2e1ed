import type { ChatRequest, Turn } from '../canonical/chat.ts'
import type { Traits } from '../canonical/traits.ts'
import { continueInstruction } from './continue-instruction.ts'
import type { Notes } from './notes.ts'

/** Ask a model that refuses a last assistant turn to continue it. A turn with calls gets results in any case. */
export function fitPrefill({ turns }: ChatRequest, traits: Traits, notes: Notes): Partial<ChatRequest> {
  const last = turns.at(-1)
  if (traits.prefill !== false || last?.role !== 'assistant') return {}
  if (last.blocks.some(({ type }) => type === 'tool-call')) return {}
  const { path } = last
  notes.add(
    'emulated',
    path,
    'the model continues no assistant turn: an instruction asks it to, but its answer may begin anew',
  )
  const asked: Turn = { role: 'user', blocks: [{ type: 'text', text: continueInstruction, path }], path }
  return { turns: [...turns, asked] }
}
