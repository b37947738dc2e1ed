import type { Block, TextBlock, ToolCallBlock, Turn } from '../../canonical/chat.ts'
import { invalid } from '../../canonical/field-error.ts'
import type { Json } from '../../canonical/json.ts'
import { opaqueObject } from '../../canonical/json-digits.ts'
import { legalCallId } from '../call-ids.ts'
import { wrapCustomInput } from '../custom-tools.ts'
import { isInstruction } from '../fit-content.ts'
import { type Notes, refused } from '../notes.ts'
import { pairToolResults, type Round } from '../pair-tool-results.ts'
import { audioPart, documentPart, imagePart } from './encode-media.ts'
import { encodeResults } from './encode-results.ts'
import { ThoughtSignatures } from './thought-signatures.ts'
import { type ContentsContext, callIdRules, noteCache } from './wire.ts'

interface Content {
  role: 'user' | 'model'
  parts: Json[]
}

/**
 * Encodes the conversation according to the rules of the format: instructions are separate, user and model
 * contents alternate, and all results of a turn's calls are at the start of the next turn.
 *
 * https://ai.google.dev/api/caching#Content, read 2026-11-21
 */
export function encodeContents(
  turns: readonly Turn[],
  context: ContentsContext,
): { systemInstruction?: Json; contents: Json[] } {
  const { notes } = context
  const firstSpoken = turns.findIndex((turn) => !isInstruction(turn))
  const leading = firstSpoken === -1 ? turns : turns.slice(0, firstSpoken)
  const instructions = leading.flatMap((turn) => encodeInstruction(turn, notes))
  const contents = firstSpoken === -1 ? [] : encodeSpoken(turns.slice(firstSpoken), context)

  const first = contents[0]
  if (first === undefined && instructions.length > 0) {
    notes.add(
      'mapped',
      leading[0]?.path ?? '',
      'sent as user text: the Gemini format requires at least one turn',
    )
    return { contents: [{ role: 'user', parts: instructions }] }
  }
  if (first === undefined) throw invalid(turns[0]?.path ?? 'messages', 'contains nothing to answer')
  if (first.role === 'model') {
    notes.add(
      'defaulted',
      turns[firstSpoken]?.path ?? '',
      'a user turn is inserted before it: the Gemini format requires one at the beginning',
    )
    contents.unshift({ role: 'user', parts: [{ text: '(The conversation begins.)' }] })
  }
  const written = contents.map(({ role, parts }) => ({ role, parts }))
  return instructions.length === 0
    ? { contents: written }
    : { systemInstruction: { parts: instructions }, contents: written }
}

function encodeInstruction(turn: Turn, notes: Notes): Json[] {
  return turn.blocks.flatMap((block) => {
    if (block.type === 'text') return encodeText(block, notes)
    if (block.type === 'foreign') return leaveOut(block, notes)
    throw refused(block.path, 'instructions in the Gemini format can contain only text')
  })
}

/** Encodes a conversation that does not begin with instructions. */
function encodeSpoken(turns: readonly Turn[], context: ContentsContext): Content[] {
  const contents: Content[] = []
  for (const round of pairToolResults(turns, context.notes)) {
    for (const { role, parts } of encodeRound(round, context)) {
      const last = contents.at(-1)
      if (last?.role === role) last.parts.push(...parts)
      else contents.push({ role, parts })
    }
  }
  return contents
}

/** Encodes one round, which does not depend on any other round. */
function encodeRound({ assistant, calls, others }: Round, context: ContentsContext): Content[] {
  const said = encodeModel(
    assistant.flatMap((turn) => turn.blocks),
    context,
  )
  const heard = [
    ...encodeResults(calls, context),
    ...others.flatMap((turn) => encodeOther(turn, context.notes)),
  ]
  const contents: Content[] = [
    { role: 'model', parts: said },
    { role: 'user', parts: heard },
  ]
  return contents.filter(({ parts }) => parts.length > 0)
}

function encodeOther(turn: Turn, notes: Notes): Json[] {
  if (!isInstruction(turn)) return turn.blocks.flatMap((block) => encodeBlock(block, notes))
  const reason = 'sent as user text: the Gemini format accepts instructions only at the beginning'
  notes.add('mapped', turn.path, reason)
  return encodeInstruction(turn, notes)
}

function encodeModel(blocks: readonly Block[], context: ContentsContext): Json[] {
  const { notes } = context
  const signatures = new ThoughtSignatures(blocks, context)
  const parts: Json[] = []
  for (const block of blocks) {
    switch (block.type) {
      case 'text':
        parts.push(...encodeText(block, notes).map((part) => ({ ...part, ...signatures.takeForText() })))
        break
      case 'reasoning':
        parts.push(...signatures.encodeReasoning(block))
        break
      case 'tool-call': {
        parts.push(...signatures.flush())
        const isFirst = parts.at(-1)?.functionCall === undefined
        parts.push({ ...encodeCall(block, context), ...signatures.takeForCall(block, isFirst) })
        break
      }
      default:
        parts.push(...encodeBlock(block, notes))
    }
  }
  return [...parts, ...signatures.flush()]
}

function encodeCall(call: ToolCallBlock, { tools, notes }: ContentsContext): Json {
  noteCache(call, notes)
  return {
    functionCall: {
      id: legalCallId(call.id, callIdRules),
      name: tools.wireName(call, call.path),
      args: call.kind === 'custom' ? wrapCustomInput(call.input) : encodeArguments(call, notes),
    },
  }
}

function encodeArguments({ input, path }: ToolCallBlock, notes: Notes): Json {
  const object = opaqueObject(input)
  if (object === undefined && input.trim() !== '') {
    notes.add('dropped', path, 'the arguments are not a JSON object: the call is sent without them')
  }
  return object ?? {}
}

/** Encodes a block that is allowed in turns of both roles. */
function encodeBlock(block: Block, notes: Notes): Json[] {
  switch (block.type) {
    case 'text':
      return encodeText(block, notes)
    case 'refusal':
      return block.text === '' ? [] : [{ text: block.text }]
    case 'image':
      noteCache(block, notes)
      return [imagePart(block, notes)]
    case 'document':
      noteCache(block, notes)
      return [documentPart(block, notes)]
    case 'audio':
      noteCache(block, notes)
      return [audioPart(block)]
    case 'foreign':
      return leaveOut(block, notes)
    case 'reasoning':
    case 'tool-call':
    case 'tool-result':
      throw invalid(block.path, `a ${block.type} is not allowed in a turn of this role`)
  }
}

/** The upstream refuses empty texts. */
function encodeText(block: TextBlock, notes: Notes): Json[] {
  noteCache(block, notes)
  return block.text === '' ? [] : [{ text: block.text }]
}

function leaveOut(block: Extract<Block, { type: 'foreign' }>, notes: Notes): Json[] {
  notes.other(block)
  return []
}
