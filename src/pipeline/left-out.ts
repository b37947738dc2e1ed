import type { GatewayError } from '../canonical/error.ts'
import { refusedMembers } from '../catalog/traits/refused-members.ts'
import { refusedTogether } from '../catalog/traits/refused-together.ts'
import { isSent, type SentMembers } from '../catalog/traits/sent-members.ts'
import { type TraitChange, traitChange } from '../catalog/traits/trait-change.ts'
import { refusesSealed } from '../protocols/sealed-reasoning.ts'
import type { Target } from '../routing/candidates.ts'

/**
 * What a second try leaves out: everything that a refusal names, and everything refused for the same reason.
 */
export interface LeftOutParts {
  changes: readonly Change[]
  /** Why reasoning sealed by a vendor is left out; undefined when it stays. */
  sealed: SealedReason | undefined
}

export type SealedReason = 'foreign' | 'unread'

/** The reasons for leaving out sealed reasoning, as worded in the translation note. */
export const sealedReasons: Readonly<Record<SealedReason, string>> = {
  foreign: 'reasoning sealed by another account or model, which the upstream refused in a first try',
  unread: 'sealed reasoning, which the model does not accept according to the upstream in a first try',
}

export interface Change extends TraitChange {
  /** The name that the upstream uses. */
  member: string
  /** False when the upstream did not name it, so nothing can be learnt from it. */
  isNamed: boolean
}

/**
 * Returns undefined when the upstream refuses nothing that can be left out without changing the request's
 * meaning, or also something that must stay and would be refused again. `sent` returns the members that we
 * added.
 */
export function leftOutAfter(
  { protocol, native, traits }: Pick<Target, 'protocol' | 'native' | 'traits'>,
  error: GatewayError,
  sent: () => SentMembers,
): LeftOutParts | undefined {
  const refused = refusedMembers(error)
  const isForeign = refusesSealed(error)
  if (refused.length === 0) return isForeign ? { changes: [], sealed: 'foreign' } : undefined
  const ours = sent()
  const changes: Change[] = []
  for (const each of refused) {
    const change = traitChange(protocol, each, ours, traits)
    if (change !== undefined) changes.push({ ...change, member: each.member, isNamed: true })
    else if (isSent(ours, each.member)) return undefined
  }
  // In a pass-through, only what the upstream has named may be left out.
  const others = native
    ? []
    : refused
        .filter(({ member, value }) => value === undefined && isSent(ours, member))
        .flatMap(({ member }) => refusedTogether(member, error))
  for (const member of others) {
    if (changes.some((change) => change.member === member)) continue
    const change = traitChange(protocol, { member }, ours, traits)
    if (change !== undefined) changes.push({ ...change, member, isNamed: false })
  }
  const isUnread = !native && changes.some((change) => change.traits.thinking === 'none')
  const sealed = isForeign ? 'foreign' : isUnread ? 'unread' : undefined
  return changes.length === 0 && sealed === undefined ? undefined : { changes, sealed }
}
