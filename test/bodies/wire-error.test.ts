import { expect, test } from 'vitest'
import { errorFrom, wireErrorOf } from '../../src/bodies/wire-error.ts'
import { GatewayError } from '../../src/canonical/error.ts'

test('an error crosses threads whole', () => {
  const error = new GatewayError('thread_unsupported_request', 'thread: no', {
    field: 'thread',
    code: 'thread_unsupported_request',
    details: { unsupported: ['thread'] },
    retryAfterSeconds: 3,
    fault: 'gateway',
    upstreamStatus: 400,
  })
  const copy = errorFrom(structuredClone(wireErrorOf(error)))
  expect(copy).toBeInstanceOf(GatewayError)
  expect({ ...copy, message: copy.message }).toEqual({ ...error, message: error.message })
})
