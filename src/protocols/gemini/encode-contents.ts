import type { Block, TextBlock, ToolCallBlock, Turn } from '../../canonical/chat.ts'
import { invalid } from '../../canonical/field-error.ts'
import { type Json, parseObject } from '../../canonical/json.ts'
import { legalCallId } from '../call-ids.ts'
import { wrapCustomInput } from '../custom-tools.ts'
import { type Notes, refused } from '../notes.ts'
import { audioPart, documentPart, imagePart } from './encode-media.ts'
import { encodeResults } from './encode-results.ts'
import { ThoughtSignatures } from './thought-signatures.ts'
import { type ContentsContext, callIdRules } from './wire.ts'

interface Content {
  role: 'user' | 'model'
  parts: Json[]
}

/**
 * Encode the conversation by the format's rules: instructions apart, user and model in turn, and all results of a
 * turn's calls at the start of the next turn.
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
      'sent as text of the user: the Gemini format needs at least one turn',
    )
    return { contents: [{ role: 'user', parts: instructions }] }
  }
  if (first === undefined) throw invalid(turns[0]?.path ?? 'messages', 'there is nothing in it to answer')
  if (first.role === 'model') {
    notes.add(
      'defaulted',
      turns[firstSpoken]?.path ?? '',
      'a user turn is put before it: the Gemini format begins with one',
    )
    contents.unshift({ role: 'user', parts: [{ text: '(The conversation begins.)' }] })
  }
  const written = contents.map(({ role, parts }) => ({ role, parts }))
  return instructions.length === 0
    ? { contents: written }
    : { systemInstruction: { parts: instructions }, contents: written }
}

function isInstruction({ role }: Turn): boolean {
  return role === 'system' || role === 'developer'
}

function encodeInstruction(turn: Turn, notes: Notes): Json[] {
  return turn.blocks.flatMap((block) => {
    if (block.type === 'text') return encodeText(block, notes)
    if (block.type === 'foreign') return leaveOut(block, notes)
    throw refused(block.path, 'the Gemini format takes only text as instructions')
  })
}

/** Consecutive turns of one side. */
interface Group {
  role: Content['role']
  turns: Turn[]
}

function encodeSpoken(turns: readonly Turn[], context: ContentsContext): Content[] {
  const contents: Content[] = []
  let calls: ToolCallBlock[] = []
  const groups = groupBySide(turns)
  for (const group of groups) {
    const blocks = group.turns.flatMap((turn) => turn.blocks)
    const parts =
      group.role === 'model' ? encodeModel(blocks, context) : encodeUser(group.turns, calls, context)
    calls = group.role === 'model' ? blocks.filter((block) => block.type === 'tool-call') : []
    const last = contents.at(-1)
    if (parts.length === 0) continue
    if (last?.role === group.role) last.parts.push(...parts)
    else contents.push({ role: group.role, parts })
  }
  // The format requires results even for calls at the very end.
  if (calls.length > 0) contents.push({ role: 'user', parts: encodeResults([], calls, context) })
  return contents
}

function groupBySide(turns: readonly Turn[]): Group[] {
  const groups: Group[] = []
  for (const turn of turns) {
    const role = turn.role === 'assistant' ? 'model' : 'user'
    const last = groups.at(-1)
    if (last?.role === role) last.turns.push(turn)
    else groups.push({ role, turns: [turn] })
  }
  return groups
}

function encodeUser(
  turns: readonly Turn[],
  calls: readonly ToolCallBlock[],
  context: ContentsContext,
): Json[] {
  const { notes } = context
  const results = turns.flatMap((turn) => turn.blocks.filter((block) => block.type === 'tool-result'))
  const parts = encodeResults(results, calls, context)
  for (const turn of turns) {
    if (isInstruction(turn)) {
      notes.add(
        'mapped',
        turn.path,
        'sent as text of the user: the Gemini format takes instructions only in front',
      )
      parts.push(...encodeInstruction(turn, notes))
    } else {
      for (const block of turn.blocks)
        if (block.type !== 'tool-result') parts.push(...encodeBlock(block, notes))
    }
  }
  return parts
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
      case 'tool-result':
        throw invalid(block.path, 'a tool result cannot stand in a turn of the assistant')
      default:
        parts.push(...encodeBlock(block, notes))
    }
  }
  return [...parts, ...signatures.flush()]
}

function encodeCall(call: ToolCallBlock, { tools, notes }: ContentsContext): Json {
  if (call.cache !== undefined) noteCache(call, notes)
  return {
    functionCall: {
      id: legalCallId(call.id, callIdRules),
      name: tools.wireName(call, call.path),
      args: call.kind === 'custom' ? wrapCustomInput(call.input) : encodeArguments(call, notes),
    },
  }
}

function encodeArguments({ input, path }: ToolCallBlock, notes: Notes): Json {
  const object = parseObject(input)
  if (object === undefined && input.trim() !== '') {
    notes.add('dropped', path, 'the arguments are no JSON object: the call is sent without them')
  }
  return object ?? {}
}

/** Encode a block that both sides can have. */
function encodeBlock(block: Block, notes: Notes): Json[] {
  switch (block.type) {
    case 'text':
      return encodeText(block, notes)
    case 'refusal':
      return block.text === '' ? [] : [{ text: block.text }]
    case 'image':
      if (block.cache !== undefined) noteCache(block, notes)
      return [imagePart(block, notes)]
    case 'document':
      if (block.cache !== undefined) noteCache(block, notes)
      return [documentPart(block, notes)]
    case 'audio':
      return [audioPart(block)]
    case 'foreign':
      return leaveOut(block, notes)
    case 'reasoning':
    case 'tool-call':
    case 'tool-result':
      throw invalid(block.path, `a ${block.type} cannot stand in a turn of this role`)
  }
}

/** The upstream refuses empty texts. */
function encodeText(block: TextBlock, notes: Notes): Json[] {
  if (block.cache !== undefined) noteCache(block, notes)
  return block.text === '' ? [] : [{ text: block.text }]
}

function leaveOut(block: Extract<Block, { type: 'foreign' }>, notes: Notes): Json[] {
  notes.other(block)
  return []
}

function noteCache({ path }: { path: string }, notes: Notes): void {
  notes.add('dropped', path, 'the Gemini format takes no cache hints')
}
