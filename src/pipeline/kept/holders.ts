import type { Identity } from '../../access/identity.ts'
import { gatewayError } from '../../canonical/error.ts'
import { plainId } from '../../canonical/plain-id.ts'
import { blockedFor } from '../../catalog/catalog.ts'
import type { Model } from '../../catalog/snapshot.ts'
import { stateOf } from '../../protocols/index.ts'
import type { ProtocolName } from '../../protocols/protocol.ts'
import { redactText } from '../../redaction/redact.ts'
import { allBlocked, type Candidate, type Target } from '../../routing/candidates.ts'
import type { Holder } from '../../shipping/held-answers.ts'
import { keepingAdvice, keptDaysOf } from '../../state/kept/kept-answers.ts'
import type { Admitted } from '../admit.ts'
import type { Gateway } from '../gateway.ts'
import type { Identified } from '../identify.ts'
import { knownSecrets } from '../redact-error.ts'

const idCharactersMax = 256

/**
 * Returns the planned candidates whose channel holds an earlier answer, pinned to the credential that
 * generated it. Throws `unavailable` while a person has blocked that channel, and `invalid_request` for an
 * answer that this key may not use; another tenant's answer must be indistinguishable from a missing one.
 */
export async function holdersOf(
  gateway: Gateway,
  { identity, group }: Pick<Identified, 'identity' | 'group'>,
  answerId: string,
  { model, name, candidates }: { model: Model; name: string; candidates: readonly Candidate[] },
  protocol: ProtocolName,
): Promise<Candidate[]> {
  const holder = await findUsableHolder(gateway, identity, answerId)
  const holding = candidates.filter(({ native, channel }) => native && channel.name === holder?.channel)
  const pinned = holder?.credential ?? undefined
  if (holding.length > 0) return holding.map((candidate) => ({ ...candidate, pinned }))
  if (blockedFor(model, group).some((channel) => channel.name === holder?.channel)) throw allBlocked(name)
  const advice =
    keptDaysOf(identity, group) === 0 ? ` This gateway stores no answers for this key. ${keepingAdvice}` : ''
  throw stateOf(protocol).refusals.unknown(redactText(answerId, [], idCharactersMax), advice)
}

/**
 * Returns the channel and credential that hold an answer, or undefined when this key has no such answer.
 * Rejects with `unavailable` while Postgres is down.
 */
export async function findUsableHolder(
  gateway: Gateway,
  identity: Identity,
  answerId: string,
): Promise<Holder | undefined> {
  if (!plainId.test(answerId)) return undefined
  try {
    const holder = await gateway.heldAnswers.find(identity.tenantId, answerId)
    return holder !== undefined && isShownTo(identity, holder) ? holder : undefined
  } catch (cause) {
    const message =
      'The database is not responding, so the earlier answer cannot be found at the moment. Try again.'
    throw gatewayError('database_away', { message }, { cause, retryAfterSeconds: 5 })
  }
}

/**
 * A key with `usage_scope: key` can use only its own answers. Those of other keys must be indistinguishable
 * from missing ones.
 */
function isShownTo({ usageScope, keyId }: Identity, holder: Holder): boolean {
  return usageScope === 'tenant' || holder.keyId === null || holder.keyId === keyId
}

/** Records which channel and credential hold an answer, so that a later request can continue or fetch it. */
export function rememberHolder(
  gateway: Gateway,
  admitted: Admitted,
  target: Target,
  answerId: string | undefined,
): void {
  const { identity, facts } = admitted
  if (!target.native || !facts.keepsAnswer) return
  if (answerId === undefined || !plainId.test(answerId) || knownSecrets(admitted).includes(answerId)) return
  gateway.heldAnswers.remember(identity.tenantId, answerId, {
    channel: target.channel.name,
    credential: target.credential.name,
    keyId: identity.keyId,
  })
}
