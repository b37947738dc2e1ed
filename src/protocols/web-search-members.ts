import type { UserLocation, WebSearch } from '../canonical/chat.ts'
import type { Members } from './members.ts'

// Web search members that several formats write in the same way.

/** Reads `user_location` with these members, as in the Responses and Messages formats. */
export function readLocation(location: Members | undefined): { userLocation?: UserLocation } {
  if (location === undefined) return {}
  location.word('type', ['approximate'])
  const read: UserLocation = {}
  for (const name of ['city', 'country', 'region', 'timezone'] as const) {
    const value = location.text(name)
    if (value !== undefined && value !== '') read[name] = value
  }
  location.noteRest()
  return { userLocation: read }
}

/** Reads a list of domains. An empty one is ignored. */
export function readDomains(
  owner: Members | undefined,
  name: 'allowed_domains' | 'blocked_domains',
): Pick<WebSearch, 'allowedDomains' | 'blockedDomains'> {
  const domains = owner?.texts(name) ?? []
  if (domains.length === 0) return {}
  return name === 'allowed_domains' ? { allowedDomains: domains } : { blockedDomains: domains }
}

export const contextSizes = ['low', 'medium', 'high'] as const
