import type { GatewayError } from '../canonical/error.ts'
import type { StreamEnd } from '../canonical/usage.ts'
import type { Bounds } from '../config.ts'
import type { AttemptRecord } from '../ledger/record.ts'
import type { Observation, UpstreamSide } from '../protocols/protocol.ts'
import type { BreakerCall } from '../routing/breakers.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Admitted } from '../stages/admit.ts'
import type { UpstreamRefusal } from '../stages/refuse.ts'
import type { AnswerReader } from './answer-reader.ts'
import type { CaptureAnswer } from './client-answer.ts'

/**
 * How a call ended. `unanswered`: the client has seen nothing of it, so we may try another target. Its
 * observation is `nothingSent` where it cost nothing.
 */
export type RelayResult =
  | { kind: 'answered' }
  | {
      kind: 'unanswered'
      error: GatewayError
      refusal: UpstreamRefusal | undefined
      observation: Observation
    }

/** The facts about an answer that has ended, but whose last bytes the client does not have yet. */
export interface RelayedAnswer {
  status: number
  observation: Observation
  streamEnd: StreamEnd
  error: GatewayError | null
}

export interface RelayOptions {
  clock: Clock
  admitted: Admitted
  side: UpstreamSide
  reader: AnswerReader
  attempt: AttemptRecord
  breakerCall: Pick<BreakerCall, 'answered'>
  bounds: Pick<
    Bounds,
    | 'heldAnswerBytesMax'
    | 'sseFrameBytesMax'
    | 'watchedAnswerBytesMax'
    | 'keepAliveMs'
    | 'clientStallMs'
    | 'streamTailMs'
  >
  capture: CaptureAnswer
  /** True: this process may have been taken for dead, so that it must send nothing. */
  isDoubtful(): boolean
  /**
   * Write the row. `last`, the last bytes of the answer, wait for it. Resolves with an error where the client
   * must not get them: a client that has seen nothing of the answer has that error already.
   */
  settle(answer: RelayedAnswer, last: Buffer | undefined): Promise<GatewayError | undefined>
  done(attempted: RelayResult): void
}
