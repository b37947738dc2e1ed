import { workerLost } from '../src/background/answer-ending.ts'
import { GatewayError } from '../src/canonical/error.ts'

// Why an answer in the background has no whole end, beside what an upstream says.

export const shuttingDown = new GatewayError('unavailable', 'The worker that made this answer was stopped.', {
  code: workerLost,
})

export const tooLarge = new GatewayError(
  'upstream_error',
  'The events of this answer take more bytes than are kept of one answer.',
)

export function lostWorker(): GatewayError {
  return new GatewayError('internal', 'The worker that made this answer ended before it did.', {
    code: workerLost,
  })
}

export function givenUp(runs: number): GatewayError {
  return new GatewayError(
    'internal',
    `The answer could not be made: the workers that tried it ended ${runs} times.`,
  )
}

/** What another SECRET_KEY has sealed. Throws where Postgres is away: the job runs again. */
export function unreadable(error: unknown): GatewayError {
  if (error instanceof GatewayError) throw error
  return new GatewayError('internal', 'This answer was sealed with another SECRET_KEY.')
}
