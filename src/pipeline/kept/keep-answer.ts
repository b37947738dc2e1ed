import { gatewayError } from '../../canonical/error.ts'
import type { Target } from '../../routing/candidates.ts'
import type { Admitted } from '../admit.ts'
import type { Gateway } from '../gateway.ts'
import { endUserOf } from '../open-record.ts'
import type { RelayedAnswer } from '../relay.ts'
import type { Keeping } from './keeping.ts'

/**
 * Collects the bytes of an answer that is to be kept while they are sent to the client. Stores at most
 * `bytesMax` bytes.
 */
export class KeptCopy {
  readonly #bytesMax: number
  #pieces: Buffer[] = []
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  take(chunk: Uint8Array): void {
    this.#bytes += chunk.length
    if (this.#bytes <= this.#bytesMax) this.#pieces.push(Buffer.from(chunk))
    else this.#pieces = []
  }

  end(): void {}

  /** Returns undefined when the answer was too long. */
  with(last: Buffer | undefined): Buffer | undefined {
    if (this.#bytes > this.#bytesMax) return undefined
    return Buffer.concat(last === undefined ? this.#pieces : [...this.#pieces, last])
  }
}

/** Begins a copy of an answer that is to be kept, unless its last bytes contain all of it. */
export function copyToKeep(gateway: Gateway, { kept, endpoint }: Admitted): KeptCopy | undefined {
  if (kept === undefined || kept.days === 0 || endpoint.client.state?.toKeep.endSuffices !== false)
    return undefined
  return new KeptCopy(gateway.bounds.keptAnswerBytesMax)
}

/**
 * Whether the gateway keeps this answer. A channel of the client's own format keeps its answers itself,
 * except for threads.
 */
export function isToKeep(
  { kept }: Pick<Admitted, 'kept'>,
  target: Pick<Target, 'native'>,
  { observation, error }: Pick<RelayedAnswer, 'observation' | 'error'>,
): boolean {
  if (kept === undefined || !observation.complete || error !== null) return false
  return kept.turn !== undefined || isKeptHere(kept, target)
}

function isKeptHere({ days, always }: Keeping, { native }: Pick<Target, 'native'>): boolean {
  return days > 0 && (always || !native)
}

/**
 * Keeps a complete answer before its client gets the last bytes, so that the next request finds it on any
 * process. `last` is those bytes; `copy` is the bytes before them, if they are needed. Rejects with
 * `unavailable` and with the errors of `KeptAnswers.add`, in which case the client must not believe that the
 * answer is kept.
 */
export async function keepTurn(
  gateway: Gateway,
  { kept, identity, facts, endpoint, life, row }: Admitted,
  target: Pick<Target, 'native'>,
  { last, copy }: { last: Buffer | undefined; copy: KeptCopy | undefined },
): Promise<void> {
  const { state } = endpoint.client
  if (kept === undefined || state === undefined) return
  const { toKeep } = state
  // The copy lacks whatever a client that left did not receive.
  if (!toKeep.endSuffices && life.clientGone) return
  const bytes = copy === undefined ? last : copy.with(last)
  const answer = bytes === undefined ? undefined : toKeep.read(bytes)
  if (answer === undefined) {
    if (kept.turn === undefined) return
    throw gatewayError('answer_not_for_conversation')
  }
  const { tenantId, keyId } = identity
  const { previousId, days, input, head, turn, claimedFor } = kept
  const endUser = endUserOf(row)
  const named = {
    tenantId,
    keyId,
    protocol: endpoint.protocol,
    endUser,
    id: answer.id,
    previousId,
    model: facts.model,
    days,
    claimedFor,
  }
  const content = { input, output: answer.output, answer: answer.answer, head }
  if (turn === undefined) await gateway.kept.add(named, content)
  else await gateway.kept.addTo(turn, content, isKeptHere(kept, target) ? named : undefined)
  kept.onKept?.()
}
