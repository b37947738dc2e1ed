import { z } from 'zod'
import { newWebhookKey } from '../webhooks/signature.ts'

/** Seals the addresses and keys of webhooks, each for its rule. */
export interface DestinationCipher {
  seal(plain: string, ruleId: string): Buffer
  /** Throws an Error for another rule, another master key, and changed bytes. */
  open(sealed: Buffer, ruleId: string): string
}

/** Where the messages of a rule go, and the keys that sign them. */
export interface Destination {
  url: string
  /** Base64. The first is the newest; an older one signs too, until its time. */
  keys: readonly { key: string; untilMs: number | null }[]
}

const form: z.ZodType<Destination> = z.object({
  url: z.string(),
  keys: z.array(z.object({ key: z.string(), untilMs: z.number().nullable() })),
})

/** A replaced secret still signs for this time. */
export const formerSecretMs = 24 * 3_600_000

export function newDestination(url: string): Destination {
  return { url, keys: [{ key: newWebhookKey().toString('base64'), untilMs: null }] }
}

/** With another secret. The former one signs for another day, the ones before it no longer. */
export function rotated({ url, keys }: Destination, nowMs: number): Destination {
  const [newest] = keys
  const former = newest === undefined ? [] : [{ key: newest.key, untilMs: nowMs + formerSecretMs }]
  return { url, keys: [...newDestination(url).keys, ...former] }
}

/** The keys that sign now, the newest first. */
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
