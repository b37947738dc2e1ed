import { type GatewayError, gatewayError } from '../canonical/error.ts'
import type { FinishReason } from '../canonical/event.ts'
import { isRecord, type Json } from '../canonical/json.ts'
import { opaqueObject, parseKeepingDigits } from '../canonical/json-digits.ts'

/**
 * Parses the input of a function as an object, for formats that do not represent it as text. Empty input
 * becomes an empty object. Undefined for text that is not a JSON object.
 */
export function inputObject(text: string): Json | undefined {
  if (text.trim() === '' || text.trim() === 'null') return {}
  return opaqueObject(text)
}

/**
 * Returns the input of a call as text. Some upstreams send an object where the format specifies text, or the
 * reverse.
 */
export function inputText(input: unknown): string {
  if (input === undefined || input === null) return ''
  if (typeof input === 'string') return input
  try {
    return JSON.stringify(input)
  } catch (cause) {
    throw gatewayError(
      'upstream_call_broken',
      { how: 'sent arguments that are nested too deeply.' },
      { cause },
    )
  }
}

/**
 * Handles a stream event whose `content_block` contains its complete input, as some upstreams send it, so
 * that numbers keep their digits.
 */
export function eventWithDigits(event: Json, data: string): Json {
  const { content_block: block } = event
  if (!isRecord(block) || !isRecord(block.input) || Object.keys(block.input).length === 0) return event
  const again = parseKeepingDigits(data)
  return isRecord(again) ? again : event
}

/** Whether the upstream cut the answer off, so that its last call may be incomplete. */
export function isCutOff(reason: FinishReason): boolean {
  return reason === 'length' || reason === 'content_filter'
}

/**
 * The error that replaces a call whose input is not a JSON object. Otherwise, a client would call the tool
 * with arguments that the model did not provide.
 */
export function brokenInput(name: string): GatewayError {
  return badCall(name, 'are not a JSON object')
}

/** The error for an object that cannot be expressed in the client's own form of such a call. */
export function unfitInput(name: string): GatewayError {
  return badCall(name, 'do not match its parameters')
}

function badCall(name: string, fault: string): GatewayError {
  const tool = name.slice(0, 64)
  const how = `called the tool "${tool}" with arguments that ${fault}. Try again.`
  return gatewayError('upstream_call_broken', { how })
}
