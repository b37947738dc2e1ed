import { createHmac, timingSafeEqual } from 'node:crypto'

const macBytes = 16

/**
 * A thought in a sealed form, as vendors give it out: bound to the wire format and the model, and taken back only
 * unchanged. Base64. No secret is kept by it: it only shows whether a seal came through as it was.
 */
export function sealThought(format: string, model: string, thought: string): string {
  const bytes = Buffer.from(thought)
  return Buffer.concat([macOf(format, model, bytes), bytes]).toString('base64')
}

/** The thought that was sealed; undefined for what this format and model did not seal. */
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
