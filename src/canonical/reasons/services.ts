import { reasonsOf } from './entry.ts'

/** Parts of the gateway that are away, end or fail. */
export const serviceReasons = reasonsOf({
  internal_fault: {
    kind: 'internal',
    says: 'The gateway failed to handle this request. Its operators can find the cause by the request id.',
    client: 'report the request id to the operator',
    operator: 'The log has the cause, under the id of the request. Please report it as a fault of Tollgate.',
  },
  process_ended: {
    kind: 'internal',
    says: 'The gateway process ended before this request did.',
    client: 'repeat the request; its cost is unknown, and nothing was charged',
    operator: 'A process died while it served requests. Its log, or that of the system, says why.',
  },
})
