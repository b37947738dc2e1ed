import type { GatewayError } from '../canonical/error.ts'
import type { StreamEnd } from '../canonical/usage.ts'
import type { Bounds } from '../config/config.ts'
import type { AttemptRecord } from '../journal/record.ts'
import type { Observation, UpstreamSide } from '../protocols/protocol.ts'
import type { BreakerCall } from '../routing/breakers.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Admitted } from './admit.ts'
import type { AnswerReader } from './answer-reader.ts'
import type { CaptureAnswer } from './client-answer.ts'
import type { UpstreamRefusal } from './refuse.ts'

/**
 * How a call ended. `unanswered`: the client has not seen any of the answer, so another target may be tried.
 * The observation is `nothingSent` if the call cost nothing.
 */
export type RelayResult =
  | { kind: 'answered' }
  | {
      kind: 'unanswered'
      error: GatewayError
      refusal: UpstreamRefusal | undefined
      observation: Observation
    }

/** The facts about an answer that has ended, but whose last bytes have not been sent to the client yet. */
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
  /** True while this process may have been taken for dead and must send nothing. */
  isDoubtful(): boolean
  /**
   * Writes the row. `last`, the last bytes of the answer, are sent only after that. Resolves with an error
   * when the client must not get them; a client that has not seen any of the answer has then already been
   * sent that error.
   */
  settle(answer: RelayedAnswer, last: Buffer | undefined): Promise<GatewayError | undefined>
  done(attempted: RelayResult): void
}
