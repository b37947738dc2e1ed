import { gatewayError } from '../canonical/error.ts'
import type { Target } from '../routing/candidates.ts'
import type { Admitted } from '../stages/admit.ts'
import type { Gateway } from '../stages/gateway.ts'
import type { Keeping } from '../stages/keeping.ts'
import { endUserOf } from '../stages/open-record.ts'
import type { RelayedAnswer } from './relay-options.ts'

/**
 * The bytes of an answer that is to be kept, while they go to the client. It holds no more than its bound.
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

  /** Undefined: it was too long. */
  with(last: Buffer | undefined): Buffer | undefined {
    if (this.#bytes > this.#bytesMax) return undefined
    return Buffer.concat(last === undefined ? this.#pieces : [...this.#pieces, last])
  }
}

/** Copies an answer that is kept, where its last bytes do not have all of it. */
export function copyToKeep(gateway: Gateway, { kept, endpoint }: Admitted): KeptCopy | undefined {
  if (kept === undefined || kept.days === 0 || endpoint.client.toKeep?.endSuffices !== false) return undefined
  return new KeptCopy(gateway.bounds.keptAnswerBytesMax)
}

/**
 * Whether the gateway keeps this answer. A channel of the client's own format keeps its answers itself, but
 * for threads.
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
 * Keep a whole answer before its client gets the last bytes of it, so that the next request finds it wherever
 * it runs. `last`: those bytes. `copy`: those before them, where they are needed. Rejects `unavailable`, and
 * as `KeptAnswers.add` does: then the client must not believe that the answer is kept.
 */
export async function keepTurn(
  gateway: Gateway,
  { kept, identity, facts, endpoint, life, row }: Admitted,
  target: Pick<Target, 'native'>,
  { last, copy }: { last: Buffer | undefined; copy: KeptCopy | undefined },
): Promise<void> {
  const { toKeep } = endpoint.client
  if (kept === undefined || toKeep === undefined) return
  // What a client that has left did not get is not copied.
  if (!toKeep.endSuffices && life.clientGone) return
  const bytes = copy === undefined ? last : copy.with(last)
  const answer = bytes === undefined ? undefined : toKeep.read(bytes)
  if (answer === undefined) {
    if (kept.turn === undefined) return
    throw gatewayError('answer_not_for_conversation')
  }
  const { tenantId, keyId } = identity
  const { previousId, days, input, head, turn, claimedFor } = kept
  const protocol = endpoint.protocol === 'anthropic-messages' ? endpoint.protocol : 'openai-responses'
  const endUser = endUserOf(row)
  const named = {
    tenantId,
    keyId,
    protocol,
    endUser,
    id: answer.id,
    previousId,
    model: facts.model,
    days,
    claimedFor,
  } as const
  const content = { input, output: answer.output, answer: answer.answer, head }
  if (turn === undefined) await gateway.kept.add(named, content)
  else await gateway.kept.addTo(turn, content, isKeptHere(kept, target) ? named : undefined)
  kept.onKept?.()
}
