import type { TranslationNote } from '../canonical/chat.ts'
import type { Json } from '../canonical/json.ts'
import { refused } from './notes.ts'

/**
 * What a translation does with one member of an image request. `said`: the upstream's body expresses it
 * completely.
 */
export type Fate = { action: 'said' } | { action: TranslationNote['action'] | 'refused'; reason: string }

/** The fates of members by name. A function determines the fate from the value. */
export type Fates = Readonly<Record<string, Fate | ((value: unknown) => Fate)>>

/**
 * Returns notes for the members in the client's request; null counts as absent. Members without a fate are
 * dropped. Throws GatewayError `unsupported_parameter` for a refused member.
 */
export function noteMembers(body: Json, fates: Fates): TranslationNote[] {
  const notes: TranslationNote[] = []
  for (const [path, value] of Object.entries(body)) {
    if (value === null || value === undefined) continue
    const found = Object.hasOwn(fates, path) ? fates[path] : undefined
    const fate = (typeof found === 'function' ? found(value) : found) ?? unknown
    if (fate.action === 'said') continue
    if (fate.action === 'refused') throw refused(path, fate.reason)
    notes.push({ path, action: fate.action, reason: fate.reason })
  }
  return notes
}

/** Fates shared by all image upstreams with other formats. */
export const said: Fate = { action: 'said' }

export const severalCalls = (value: unknown): Fate =>
  value === 1
    ? said
    : { action: 'emulated', reason: 'the format returns one image per call: the gateway sends several calls' }

export const ownDelivery: Fate = {
  action: 'emulated',
  reason: 'the format does not let clients choose between base64 and links: the gateway converts the result',
}

export function dropped(reason: string): Fate {
  return { action: 'dropped', reason }
}

const unknown = dropped('unknown in other formats')
