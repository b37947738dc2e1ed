import { reasonsOf } from './entry.ts'

/** Which models and channels can take a request. */
export const routingReasons = reasonsOf({})
