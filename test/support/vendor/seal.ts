import { createHmac, timingSafeEqual } from 'node:crypto'

const macBytes = 16

/**
 * Seals a thought, as vendors do: the seal is valid for one wire format and one model, and only unchanged. Base64. It
 * hides nothing: it only shows that the seal came back as it was.
 */
export function sealThought(format: string, model: string, thought: string): string {
  const bytes = Buffer.from(thought)
  return Buffer.concat([macOf(format, model, bytes), bytes]).toString('base64')
}

/** The sealed thought; undefined for a seal that is not valid for this format and model. */
export function openThought(format: string, model: string, seal: string): string | undefined {
  const bytes = Buffer.from(seal, 'base64')
  const thought = bytes.subarray(macBytes)
  if (bytes.length < macBytes || bytes.toString('base64') !== seal) return undefined
  return timingSafeEqual(bytes.subarray(0, macBytes), macOf(format, model, thought))
    ? thought.toString()
    : undefined
}

function macOf(format: string, model: string, thought: Buffer): Buffer {
  return createHmac('sha256', `strict vendor ${format} ${model}`)
    .update(thought)
    .digest()
    .subarray(0, macBytes)
}
