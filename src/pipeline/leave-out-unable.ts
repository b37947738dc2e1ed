import { hasSignOfAny, type SignedNeed } from '../bodies/need-signs.ts'
import { requestNeeds } from '../bodies/request-needs.ts'
import { vendorStateIn } from '../bodies/vendor-state.ts'
import type { GatewayError } from '../canonical/error.ts'
import { parseObject } from '../canonical/json.ts'
import { mayNameState } from '../catalog/shared-state.ts'
import { cannotDo, lacking, type Need, type NeedName } from '../catalog/traits/needs.ts'
import { refusedMembers } from '../catalog/traits/refused-members.ts'
import { refusedTogether } from '../catalog/traits/refused-together.ts'
import { isSent, type SentMembers } from '../catalog/traits/sent-members.ts'
import { type TraitChange, traitChange } from '../catalog/traits/trait-change.ts'
import { refusesSealed } from '../protocols/sealed-reasoning.ts'
import type { Candidate, Target } from '../routing/candidates.ts'
import type { LeftOut, ModelCandidates } from '../routing/targets.ts'
import type { Gateway } from './gateway.ts'
import { inThread } from './in-thread.ts'
import type { Asked } from './read.ts'

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

/**
 * Returns the same models without the candidates that cannot do what the request needs, or must not receive
 * it, each with the reason. The body is searched only when a candidate certainly lacks something that this
 * request may need. Returns a promise only for a large body that must be read for that.
 */
export function leaveOutUnable(
  gateway: Gateway,
  asked: Asked,
  planned: readonly ModelCandidates[],
): readonly ModelCandidates[] | Promise<readonly ModelCandidates[]> {
  const unable = new Set<NeedName>()
  let mayBeApart = false
  let allServed = true
  for (const { candidates } of planned) {
    for (const candidate of candidates) {
      for (const name of cannotDo(candidate.traits, candidate.native)) unable.add(name)
      mayBeApart ||= isApart(asked, candidate)
      allServed &&= isServed(candidate)
    }
  }
  const mayLack = unable.size > 0 && mayNeedAny(asked, unable)
  const state = mayBeApart ? vendorStateOf(asked) : undefined
  if (!mayLack && state === undefined && allServed) return planned
  const without = (needs: readonly Need[]) => planned.map((each) => split(asked, each, needs, state))
  if (!mayLack) return without([])
  const { body, large, endpoint } = asked
  return large === undefined
    ? without(requestNeeds(endpoint.client, parseObject(body.toString('utf8')) ?? {}, gateway.envelope))
    : needsOfLarge(gateway, asked).then(without)
}

function split(
  asked: Asked,
  of: ModelCandidates,
  needs: readonly Need[],
  state: string | undefined,
): ModelCandidates {
  const candidates: Candidate[] = []
  const leftOut: LeftOut[] = []
  for (const candidate of of.candidates) {
    const unable = cannotDo(candidate.traits, candidate.native)
    const need = unable.length === 0 ? undefined : needs.find(({ name }) => unable.includes(name))
    if (!isServed(candidate)) {
      const reason = `the vendor serves this model only in ${candidate.traits.protocols?.join(', ')}`
      leftOut.push({ candidate, need: undefined, reason })
    } else if (state !== undefined && isApart(asked, candidate)) {
      const reason = `several tenants share this channel, and ${state} refers to data kept by its vendor`
      leftOut.push({ candidate, need: undefined, state, reason })
    } else if (need === undefined) candidates.push(candidate)
    else leftOut.push({ candidate, need, reason: `${lacking(need.name)}: ${need.path}` })
  }
  return leftOut.length === 0 ? of : { ...of, candidates, leftOut }
}

function isServed({ traits, protocol }: Candidate): boolean {
  return traits.protocols === undefined || traits.protocols.includes(protocol)
}

/**
 * Whether the request must not pass ids of data kept by the vendor to this candidate. A translation passes
 * none, except addresses of Gemini files.
 */
function isApart({ snapshot, identity }: Asked, { channel, native, protocol }: Candidate): boolean {
  return (native || protocol === 'gemini') && !mayNameState(snapshot, channel, identity.tenantId)
}

/** The path of the first such id. */
function vendorStateOf({ body, facts, large }: Asked): string | undefined {
  return large === undefined ? vendorStateIn(body, facts) : large.vendorState
}

/** Returns false when this request certainly needs none of them. */
function mayNeedAny({ facts, body, large }: Asked, needs: ReadonlySet<NeedName>): boolean {
  const signed: SignedNeed[] = []
  for (const name of needs) {
    if (name !== 'streaming') {
      if (facts.hasMediaWords !== false || !name.endsWith('Input')) signed.push(name)
    } else if (facts.stream) return true
  }
  // Only worker threads read all of a large body.
  if (large !== undefined) return signed.some((name) => large.signedNeeds.includes(name))
  const ofInput = signed.filter((name) => name.endsWith('Input'))
  const ofOutput = signed.filter((name) => name.endsWith('Output'))
  const others = signed.filter((name) => !ofInput.includes(name) && !ofOutput.includes(name))
  return (
    hasSignOfAny(body, others) ||
    hasSignOfAny(conversationOf(body, facts), ofInput) ||
    aroundConversation(body, facts).some((part) => hasSignOfAny(part, ofOutput))
  )
}

/** Tools often have a property called "file" or "image", so only the conversation is searched for input. */
function conversationOf(body: Buffer, { conversation }: Asked['facts']): Buffer {
  return conversation === undefined ? body : body.subarray(conversation.start, conversation.end)
}

/** Output options are outside the conversation, which is the long part of a body. */
function aroundConversation(body: Buffer, { conversation }: Asked['facts']): Buffer[] {
  if (conversation === undefined) return [body]
  return [body.subarray(0, conversation.start), body.subarray(conversation.end)]
}

/** Empty for a request that our decoder does not know completely: the decision is left to its upstream. */
async function needsOfLarge(gateway: Gateway, asked: Asked): Promise<readonly Need[]> {
  const { body, endpoint } = asked
  const input = { bytes: body, client: endpoint.protocol, compacts: endpoint.compacts === true }
  try {
    return await inThread(gateway, asked, { name: 'needs', input })
  } catch (error) {
    // The thread's job ends when the client leaves. That is not an error: the next stages see that it has
    // gone.
    if (asked.life.clientGone) return []
    throw error
  }
}
