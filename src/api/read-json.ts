import { gatewayError } from '../canonical/error.ts'
import { isRecord, type Json } from '../canonical/json.ts'
import { parseKeepingDigits } from '../canonical/json-digits.ts'
import { isLarge } from '../http/body.ts'
import type { Gateway } from '../pipeline/gateway.ts'
import type { Identified } from '../pipeline/identify.ts'
import { readWhole } from '../pipeline/read.ts'
import { scanBody } from '../protocols/scan-facts.ts'

/**
 * Reads the body as a JSON object, within the limits for a chat, and records it in the row. The scan refuses
 * a body that is nested too deeply or has too many values before anything is built from it, which a schema
 * cannot do. `readLarge` reads a large body. Throws ClientLeft, `invalid_request` or
 * `request_too_large`.
 */
export async function readJson(
  gateway: Gateway,
  stage: Identified,
  readLarge?: (stage: Identified, bytes: Buffer) => Promise<Json>,
): Promise<Json> {
  const body = await readWhole(gateway, stage, readLarge !== undefined)
  if (readLarge !== undefined && isLarge(body)) return await readLarge(stage, body)
  scanBody(body, [], gateway.bounds)
  return parseJson(body, parseKeepingDigits)
}

/** Throws `invalid_request` if `parse` throws a SyntaxError. */
export function parseJson(body: Buffer, parse: (text: string) => unknown): Json {
  let value: unknown
  try {
    value = parse(body.toString('utf8'))
  } catch (cause) {
    throw gatewayError('body_not_json', {}, { field: 'body', cause })
  }
  if (isRecord(value)) return value
  throw gatewayError('body_not_object', {}, { field: 'body' })
}
