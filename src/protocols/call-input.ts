import { type GatewayError, gatewayError } from '../canonical/error.ts'
import type { FinishReason } from '../canonical/event.ts'
import { isRecord, type Json } from '../canonical/json.ts'
import { opaqueObject, parseKeepingDigits } from '../canonical/json-digits.ts'

/**
 * The input of a function as an object, for formats that have no text for it. No input is an empty object.
 * Undefined for text that is not a JSON object.
 */
export function inputObject(text: string): Json | undefined {
  if (text.trim() === '' || text.trim() === 'null') return {}
  return opaqueObject(text)
}

/**
 * The input of a call as a text. Some upstreams send an object where the format has a text, or the other way
 * round.
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
 * An event of a stream whose `content_block` has its input whole, as some upstreams send it: its numbers keep
 * their digits.
 */
export function eventWithDigits(event: Json, data: string): Json {
  const { content_block: block } = event
  if (!isRecord(block) || !isRecord(block.input) || Object.keys(block.input).length === 0) return event
  const again = parseKeepingDigits(data)
  return isRecord(again) ? again : event
}

/** True: the upstream broke the answer off, so that its last call may not be whole. */
export function isCutOff(reason: FinishReason): boolean {
  return reason === 'length' || reason === 'content_filter'
}

/**
 * The error instead of a call whose input is not a JSON object. A client would call the tool with arguments
 * that the model did not give.
 */
export function brokenInput(name: string): GatewayError {
  return badCall(name, 'are not a JSON object')
}

/** The same for an object that the client's own form of such a call cannot hold. */
export function unfitInput(name: string): GatewayError {
  return badCall(name, 'do not fit it')
}

function badCall(name: string, fault: string): GatewayError {
  const tool = name.slice(0, 64)
  const how = `called the tool "${tool}" with arguments that ${fault}. Try again.`
  return gatewayError('upstream_call_broken', { how })
}
