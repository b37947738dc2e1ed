import { reasonsOf } from './entry.ts'

/** Parts of the gateway that are away, end or fail. */
export const serviceReasons = reasonsOf({})
