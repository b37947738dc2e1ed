import { isRecord, type Json, recordsOf, textOf } from '../../../../src/canonical/json.ts'
import { expectFilled, expectOneOf, expectText, isAbsent, Refusal, refuse } from '../check.ts'
import { mediaOfUrl, mediaWords } from '../question.ts'
import { openThought } from '../seal.ts'

/** Checks the items of a conversation. Returns the number of thoughts that the vendor sealed. Throws Refusal. */
export function checkItems(items: readonly Json[], model: string, isStored: boolean): number {
  const called = new Set<string>()
  const answered = new Set<string>()
  let thoughts = 0
  for (const [at, item] of items.entries()) {
    const path = `input[${at}]`
    switch (item.type) {
      case undefined:
      case 'message':
        checkMessage(item, path)
        break
      case 'function_call':
        checkId(item.id, 'fc', path)
        expectText(item.name, `${path}.name`)
        expectText(item.arguments, `${path}.arguments`)
        addCall(called, item, path)
        break
      case 'custom_tool_call':
        checkId(item.id, 'ctc', path)
        expectText(item.name, `${path}.name`)
        expectText(item.input, `${path}.input`)
        addCall(called, item, path)
        break
      case 'function_call_output':
      case 'custom_tool_call_output':
        checkOutput(item, path, called)
        answered.add(String(item.call_id))
        break
      case 'reasoning':
        thoughts += checkReasoning(item, path, model, isStored)
        break
      default:
        expectText(item.type, `${path}.type`)
    }
  }
  const open = [...called].find((id) => !answered.has(id))
  if (open !== undefined) refuse(`No tool output found for function call ${open}.`, 'input')
  return thoughts
}

/** The text of a content, with a description of each medium. */
export function wordsOf(content: unknown): string {
  if (typeof content === 'string') return content
  return recordsOf(content)
    .map((part) => {
      if (typeof part.text === 'string') return part.text
      if (part.type === 'input_image') {
        return mediaWords('image', typeof part.image_url === 'string' ? mediaOfUrl(part.image_url) : {})
      }
      if (part.type === 'input_file') {
        const url = textOf(part.file_data) ?? textOf(part.file_url)
        return mediaWords('document', url === undefined ? {} : mediaOfUrl(url))
      }
      return `[${part.type}]`
    })
    .join(' ')
}

const partTypes: Readonly<Record<string, readonly string[]>> = {
  user: ['input_text', 'input_image', 'input_file', 'input_audio'],
  system: ['input_text'],
  developer: ['input_text', 'input_image', 'input_file'],
  assistant: ['output_text', 'refusal'],
}

function checkMessage(item: Json, path: string): void {
  const role = expectOneOf(item.role, `${path}.role`, Object.keys(partTypes))
  if (role === undefined) refuse(`Missing required parameter: '${path}.role'.`, `${path}.role`)
  checkId(item.id, 'msg', path)
  if (typeof item.content !== 'string') checkParts(item.content, `${path}.content`, partTypes[role] ?? [])
}

function checkParts(content: unknown, path: string, types: readonly string[]): void {
  for (const [at, part] of expectFilled(content, path).entries()) {
    const partPath = `${path}[${at}]`
    if (typeof part.type !== 'string' || !types.includes(part.type)) {
      refuse(
        `Invalid value: '${String(part.type).slice(0, 40)}'. Supported values are: ${types.map((type) => `'${type}'`).join(', ')}.`,
        `${partPath}.type`,
        'invalid_value',
      )
    }
    if (part.type === 'input_text' || part.type === 'output_text') expectText(part.text, `${partPath}.text`)
    if (part.type === 'refusal') expectText(part.refusal, `${partPath}.refusal`)
    if (part.type === 'input_image' && isAbsent(part.file_id))
      expectText(part.image_url, `${partPath}.image_url`)
  }
}

function checkId(id: unknown, prefix: string, path: string): void {
  if (isAbsent(id)) return
  if (!expectText(id, `${path}.id`).startsWith(prefix)) {
    refuse(
      `Invalid '${path}.id': '${String(id).slice(0, 60)}'. Expected an ID that begins with '${prefix}'.`,
      `${path}.id`,
      'invalid_value',
    )
  }
}

function addCall(called: Set<string>, item: Json, path: string): void {
  const id = expectText(item.call_id, `${path}.call_id`)
  if (id.length > 64)
    refuse(`Invalid '${path}.call_id': string too long.`, `${path}.call_id`, 'string_above_max_length')
  if (called.has(id)) refuse(`Duplicate call_id '${id}'.`, `${path}.call_id`)
  called.add(id)
}

function checkOutput(item: Json, path: string, called: Set<string>): void {
  const id = expectText(item.call_id, `${path}.call_id`)
  if (!called.has(id)) refuse(`No tool call found for function call output with call_id ${id}.`, 'input')
  if (typeof item.output !== 'string') {
    checkParts(item.output, `${path}.output`, ['input_text', 'input_image', 'input_file'])
  }
}

/** Returns 1 for a thought that the vendor sealed, else 0. */
function checkReasoning(item: Json, path: string, model: string, isStored: boolean): number {
  checkId(item.id, 'rs', path)
  if (!Array.isArray(item.summary))
    refuse(`Missing required parameter: '${path}.summary'.`, `${path}.summary`)
  for (const [at, part] of item.summary.entries()) {
    if (!isRecord(part)) refuse(`${path}.summary[${at}]: expected an object`, `${path}.summary[${at}]`)
    expectOneOf(part.type, `${path}.summary[${at}].type`, ['summary_text'])
  }
  const sealed = textOf(item.encrypted_content)
  if (sealed === undefined) {
    if (isStored) return 0
    const message = `Item with id '${String(item.id).slice(0, 60)}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`
    throw new Refusal(404, message, { field: 'input' })
  }
  if (openThought('responses', model, sealed) === undefined) {
    refuse(
      `The encrypted content for item ${String(item.id).slice(0, 60)} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
      `${path}.encrypted_content`,
      'invalid_encrypted_content',
    )
  }
  return 1
}
