import { reasonsOf } from './entry.ts'

/** What an upstream did, or failed to do. */
export const upstreamReasons = reasonsOf({})
