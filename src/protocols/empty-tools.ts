import type { TranslationNote } from '../canonical/chat.ts'
import type { Json } from '../canonical/json.ts'
import { type ByteRange, kindAt, parseSpan, skipSpace } from './json-scan.ts'
import { removeMembers } from './remove-members.ts'

/** The members of a body that are only meaningful with a list of tools. */
export interface ToolSpans {
  tools?: ByteRange | undefined
  tool_choice?: ByteRange | undefined
  parallel_tool_calls?: ByteRange | undefined
}

/**
 * The members that a pass-through removes from a body with an empty list of tools. Agents without tools send
 * one, and OpenAI, vLLM, DeepSeek and Qwen refuse it with 400. A tool choice that requires a call is kept, so
 * that the upstream refuses it.
 *
 * https://github.com/vllm-project/vllm/pull/39780, https://github.com/earendil-works/pi/issues/3649,
 * https://github.com/runebookai/tome/pull/87, read 2026-11-22. The Messages format accepts an empty list
 * (https://github.com/run-llama/llama_index/pull/17928), and there are no reports that the Responses format
 * refuses it.
 */
export function emptyTools(
  raw: Buffer,
  { tools, tool_choice: choice, parallel_tool_calls: parallel }: ToolSpans,
): { spans: ByteRange[]; notes: TranslationNote[] } | undefined {
  if (tools === undefined || !isEmptyList(raw, tools)) return undefined
  const idleChoice = choice !== undefined && isIdle(raw, choice) ? choice : undefined
  const values = [tools, idleChoice, parallel].filter((span) => span !== undefined)
  return {
    spans: removeMembers(raw, values),
    notes: notesOn(idleChoice !== undefined, parallel !== undefined),
  }
}

/** Does the same for a parsed body. */
export function withoutEmptyTools(body: Json): { body: Json; notes: TranslationNote[] } {
  const { tools, tool_choice: choice, parallel_tool_calls: parallel, ...others } = body
  if (!Array.isArray(tools) || tools.length > 0) return { body, notes: [] }
  const isIdleChoice = choice === null || choice === 'auto' || choice === 'none'
  return {
    body: isIdleChoice || choice === undefined ? others : { ...others, tool_choice: choice },
    notes: notesOn(isIdleChoice, parallel !== undefined),
  }
}

function notesOn(hasChoice: boolean, hasParallel: boolean): TranslationNote[] {
  const notes = [note('tools', 'left out: upstreams refuse an empty list')]
  if (hasChoice) notes.push(note('tool_choice', withoutTools))
  if (hasParallel) notes.push(note('parallel_tool_calls', withoutTools))
  return notes
}

const withoutTools = 'left out: it has no effect without tools'

function note(path: string, reason: string): TranslationNote {
  return { path, action: 'mapped', reason }
}

function isEmptyList(raw: Buffer, { start, end }: ByteRange): boolean {
  return kindAt(raw, start) === 'array' && skipSpace(raw, start + 1, end) === end - 1
}

/** Whether a tool choice does not require a call. */
function isIdle(raw: Buffer, choice: ByteRange): boolean {
  const kind = kindAt(raw, choice.start)
  if (kind === 'null') return true
  if (kind !== 'string') return false
  const word = parseSpan(raw, choice, 'tool_choice')
  return word === 'auto' || word === 'none'
}
