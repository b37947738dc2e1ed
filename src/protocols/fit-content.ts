import type { Block, ChatRequest, Turn } from '../canonical/chat.ts'
import type { Modality, Traits } from '../canonical/traits.ts'
import { type Notes, refused } from './notes.ts'

/** Refuses parts that the model cannot read, and moves later instructions to where the model accepts them. */
export function fitContent({ turns }: ChatRequest, traits: Traits, notes: Notes): Partial<ChatRequest> {
  if (traits.input !== undefined || traits.fetchesUrls === false) {
    for (const { blocks } of turns) for (const block of blocks) refuseUnread(block, traits)
  }
  if (traits.severalInstructions === false) return gatherInstructions(turns, notes)
  return traits.laterInstructions === false ? moveInstructions(turns, notes) : {}
}

function refuseUnread(block: Block, traits: Traits): void {
  if (block.type === 'tool-result') {
    for (const part of block.content) refuseUnread(part, traits)
    return
  }
  const kind = modalityOf(block)
  if (kind === undefined) return
  if (traits.input?.includes(kind) === false)
    throw refused(block.path, `the model does not accept ${names[kind]}`)
  const url = 'source' in block && block.source.kind === 'url' ? block.source.url : ''
  // Addresses in a vendor's own storage, such as gs://, are not fetched from the web.
  if (traits.fetchesUrls === false && /^https?:/i.test(url)) {
    throw refused(block.path, 'the upstream does not fetch URLs: send the content as base64')
  }
}

const names: Readonly<Record<Modality, string>> = {
  text: 'text',
  image: 'images',
  document: 'documents',
  audio: 'audio',
  video: 'video',
}

/** The modality of a part, unless it is text. A document with a text source counts as text. */
function modalityOf(block: Block): Modality | undefined {
  switch (block.type) {
    case 'image':
    case 'audio':
      return block.type
    case 'document':
      return block.source.kind === 'text' ? undefined : 'document'
    case 'text':
    case 'reasoning':
    case 'refusal':
    case 'tool-call':
    case 'tool-result':
    case 'foreign':
      return undefined
  }
}

function gatherInstructions(turns: readonly Turn[], notes: Notes): Partial<ChatRequest> {
  const firstSpoken = turns.findIndex((turn) => !isInstruction(turn))
  if (firstSpoken === -1) return {}
  const later = turns.slice(firstSpoken).filter(isInstruction)
  for (const { path } of later)
    notes.add(
      'mapped',
      path,
      'moved to the instructions at the beginning: the model accepts only one message of instructions',
    )
  if (later.length === 0) return {}
  const spoken = turns.slice(firstSpoken).filter((turn) => !isInstruction(turn))
  return { turns: [...turns.slice(0, firstSpoken), ...later, ...spoken] }
}

function moveInstructions(turns: readonly Turn[], notes: Notes): Partial<ChatRequest> {
  const firstSpoken = turns.findIndex((turn) => !isInstruction(turn))
  if (firstSpoken === -1 || !turns.slice(firstSpoken).some(isInstruction)) return {}
  return {
    turns: turns.map((turn, at) => {
      if (at < firstSpoken || !isInstruction(turn)) return turn
      notes.add(
        'mapped',
        turn.path,
        'sent as user text: the model accepts instructions only at the beginning',
      )
      return { ...turn, role: 'user' }
    }),
  }
}

export function isInstruction({ role }: Turn): boolean {
  return role === 'system' || role === 'developer'
}
