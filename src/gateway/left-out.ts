import type { GatewayError } from '../canonical/error.ts'
import { refusesSealed } from '../protocols/sealed-reasoning.ts'
import type { Target } from '../routing/candidates.ts'
import { refusedMembers } from '../traits/refused-members.ts'
import { refusedTogether } from '../traits/refused-together.ts'
import { isSent, type SentMembers } from '../traits/sent-members.ts'
import { type TraitChange, traitChange } from '../traits/trait-change.ts'

/** What a second try is without: all that a refusal names, and what is refused for the same reason. */
export interface LeftOutParts {
  changes: readonly Change[]
  /** Thoughts that a vendor has sealed, and why they go. */
  sealed: SealedReason | undefined
}

export type SealedReason = 'foreign' | 'unread'

/** Why sealed thoughts go, as their note says it. */
export const sealedReasons: Readonly<Record<SealedReason, string>> = {
  foreign:
    'reasoning that another account or model has sealed: the upstream refused it as foreign in a first try',
  unread: 'sealed reasoning: the model takes none, as the upstream said in a first try',
}

export interface Change extends TraitChange {
  /** As the upstream names it. */
  member: string
  /** False: the upstream has not named it, so that nothing is learnt of it. */
  isNamed: boolean
}

/**
 * Undefined: the upstream refuses nothing that the request means the same without, or also something that
 * must stay and would be refused again. `sent`: the members of our making.
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
  // Of a pass-through only what the upstream has named may go.
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
