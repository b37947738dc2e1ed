import type { TranslationNote } from '../canonical/chat.ts'
import type { Json } from '../canonical/json.ts'
import { refused } from './notes.ts'

/**
 * The effect of a translation on one member of an image request. `said`: the upstream's body has all of it.
 */
export type Fate = { action: 'said' } | { action: TranslationNote['action'] | 'refused'; reason: string }

/** Fates of members by name. A function decides by the value. */
export type Fates = Readonly<Record<string, Fate | ((value: unknown) => Fate)>>

/**
 * Notes for the members that the client gave; null counts as absent. A member without a fate is dropped.
 * Throws GatewayError `unsupported_parameter` for a refused member.
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

/** Fates that all image upstreams of other formats share. */
export const said: Fate = { action: 'said' }

export const severalCalls = (value: unknown): Fate =>
  value === 1
    ? said
    : { action: 'emulated', reason: 'the format makes one image in a call: the gateway sends several calls' }

export const ownDelivery: Fate = {
  action: 'emulated',
  reason: 'the format decides between base64 and links: the gateway gives the client what it asked for',
}

export function dropped(reason: string): Fate {
  return { action: 'dropped', reason }
}

const unknown = dropped('not a member that other formats know')
