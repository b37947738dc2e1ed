import type { Key } from './gateway-answers.ts'

/** The state of a key in a few words. */
export function stateOf({ revoked_at, blocked, disabled, expires_at }: Key): string {
  if (revoked_at !== null) return `revoked ${revoked_at.slice(0, 10)}`
  if (blocked !== null) return `blocked ${blocked.at.slice(0, 10)}`
  if (disabled) return 'disabled'
  if (expires_at === null) return 'good'
  return `${new Date(expires_at) < new Date() ? 'expired' : 'valid until'} ${expires_at.slice(0, 10)}`
}
