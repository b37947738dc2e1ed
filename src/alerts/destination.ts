import { z } from 'zod'
import { newWebhookKey } from '../upstream/webhooks/signature.ts'

/** Seals the addresses and keys of webhooks, each for one rule. */
export interface DestinationCipher {
  seal(plain: string, ruleId: string): Buffer
  /** Throws an Error if the rule or the master key is a different one, or if the bytes were changed. */
  open(sealed: Buffer, ruleId: string): string
}

/** Where the messages of a rule are sent, and the keys that sign them. */
export interface Destination {
  url: string
  /** The keys in base64, newest first. An older one also signs until its expiry. */
  keys: readonly { key: string; untilMs: number | null }[]
}

const form: z.ZodType<Destination> = z.object({
  url: z.string(),
  keys: z.array(z.object({ key: z.string(), untilMs: z.number().nullable() })),
})

/** How long a replaced secret continues to sign. */
export const formerSecretMs = 24 * 3_600_000

export function newDestination(url: string): Destination {
  return { url, keys: [{ key: newWebhookKey().toString('base64'), untilMs: null }] }
}

/** Replaces the secret. The previous one signs for another day; earlier ones no longer sign. */
export function rotated({ url, keys }: Destination, nowMs: number): Destination {
  const [newest] = keys
  const former = newest === undefined ? [] : [{ key: newest.key, untilMs: nowMs + formerSecretMs }]
  return { url, keys: [...newDestination(url).keys, ...former] }
}

/** Returns the keys that currently sign, newest first. */
export function signingKeys({ keys }: Destination, nowMs: number): Buffer[] {
  return keys
    .filter(({ untilMs }) => untilMs === null || untilMs > nowMs)
    .map(({ key }) => Buffer.from(key, 'base64'))
}

export function sealDestination(cipher: DestinationCipher, destination: Destination, ruleId: string): Buffer {
  return cipher.seal(JSON.stringify(destination), ruleId)
}

export function openDestination(cipher: DestinationCipher, sealed: Buffer, ruleId: string): Destination {
  return form.parse(JSON.parse(cipher.open(sealed, ruleId)))
}
