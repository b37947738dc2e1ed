import { randomBytes } from 'node:crypto'
import { isRecord, type Json, recordsOf, textOf } from '../../canonical/json.ts'
import { plainId } from '../../canonical/plain-id.ts'
import type { ItemForm, NewItem } from '../protocol-state.ts'

/** The items of stored turns. */
export const itemForm: ItemForm = { added, answered, shown, idPrefix, faultOf }

/** Returns the items of a request or a client, and gives an id to those without one. */
function added(items: readonly Json[]): NewItem[] {
  return items.map((item) => ({ id: idOf(item), text: JSON.stringify(item), isSent: true }))
}

/**
 * Returns the items of an answer. Only the vendor can look up reasoning that is not encrypted, and without
 * that reasoning it refuses the neighbouring items unless they have no ids.
 */
export function answered(output: readonly Json[]): NewItem[] {
  const isWhole = output.every(canBeSent)
  return output.map((item) => {
    const { id: _, ...without } = item
    return { id: idOf(item), text: JSON.stringify(isWhole ? item : without), isSent: canBeSent(item) }
  })
}

/**
 * Returns an item as a client sees it: with an id, a type and a status, and with parts in place of a string.
 */
function shown(id: string, item: Json): Json {
  const type = textOf(item.type) ?? 'message'
  const { role, content, status = 'completed' } = item
  // Reasoning and other items need none.
  if (type !== 'message') return { ...item, type, id, ...(/(call|output)$/.test(type) && { status }) }
  const parts = typeof content === 'string' ? [textPart(role, content)] : recordsOf(content).map(shownPart)
  return { ...item, type, id, status, content: parts }
}

/** Adds the members of a part that are required in an answer but optional in a request. */
function shownPart(part: Json): Json {
  if (part.type === 'output_text') return { annotations: [], ...part }
  return part.type === 'input_image' ? { detail: 'auto', ...part } : part
}

/** A new id in the vendor's format. */
export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(24).toString('hex')}`
}

/**
 * Returns what is wrong with an item that a client adds; undefined when nothing is. A bad item would break
 * every later request.
 */
function faultOf(item: Json): string | undefined {
  const { type = 'message', role, content } = item
  if (typeof type !== 'string' || type === '') return 'type: expected a string'
  if (type === 'item_reference') return 'type: item references are not supported here. Send the item itself.'
  if (type !== 'message') return undefined
  if (!roles.has(role)) return 'role: expected "user", "assistant", "system" or "developer"'
  const isList = Array.isArray(content) && content.every(isRecord)
  return isList || typeof content === 'string' ? undefined : 'content: expected a string or an array of parts'
}

const roles: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system', 'developer'])

/** Reasoning can be sent back only in its encrypted form. */
function canBeSent({ type, encrypted_content: sealed }: Json): boolean {
  return type !== 'reasoning' || textOf(sealed) !== undefined
}

function idOf(item: Json): string {
  const { id } = item
  return typeof id === 'string' && plainId.test(id) ? id : newId(idPrefix(item))
}

function idPrefix({ type }: Json): string {
  return prefixes[textOf(type) ?? 'message'] ?? 'item'
}

function textPart(role: unknown, text: string): Json {
  return role === 'assistant' ? { type: 'output_text', text, annotations: [] } : { type: 'input_text', text }
}

const prefixes: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
}
