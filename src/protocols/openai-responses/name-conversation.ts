import { type ByteRange, scanMembers } from '../json-scan.ts'
import { splice } from '../splice.ts'

/**
 * Sets the conversation in each response of an answer: a whole one, or whole frames of a stream. All other
 * bytes stay unchanged.
 */
export function nameConversation(bytes: Buffer, conversationId: string, isStream: boolean): Buffer {
  const value = Buffer.from(JSON.stringify({ id: conversationId }))
  if (!isStream) return named(bytes, { start: 0, end: bytes.length }, value)
  if (!bytes.includes(responseMember)) return bytes
  const parts: Buffer[] = []
  for (let from = 0; from < bytes.length; ) {
    const newline = bytes.indexOf(0x0a, from)
    const end = newline === -1 ? bytes.length : newline + 1
    parts.push(namedLine(bytes.subarray(from, end), value))
    from = end
  }
  return Buffer.concat(parts)
}

function namedLine(line: Buffer, value: Buffer): Buffer {
  if (!line.subarray(0, dataField.length).equals(dataField) || !line.includes(responseMember)) return line
  const span = { start: dataField.length, end: line.length }
  const response = memberOf(line, span, 'response')
  return response === undefined ? line : named(line, response, value)
}

/**
 * Returns the text with this conversation set in the object at that range; unchanged if the object has no id.
 */
function named(text: Buffer, object: ByteRange, value: Buffer): Buffer {
  const found = memberOf(text, object, 'conversation')
  if (found !== undefined) return splice(text, [{ ...found, bytes: value }], Buffer.allocUnsafe)
  if (memberOf(text, object, 'id') === undefined) return text
  const start = text.indexOf(0x7b, object.start) + 1
  const member = Buffer.concat([Buffer.from('"conversation":'), value, Buffer.from(',')])
  return splice(text, [{ start, end: start, bytes: member }], Buffer.allocUnsafe)
}

function memberOf<Name extends string>(text: Buffer, span: ByteRange, name: Name): ByteRange | undefined {
  try {
    return scanMembers(text, span, [name], { depthMax })[name]
  } catch {
    // Invalid JSON is passed to the client unchanged.
    return undefined
  }
}

const dataField = Buffer.from('data:')
const responseMember = Buffer.from('"response"')
/** The depth to which answers may be nested. */
const depthMax = 512
