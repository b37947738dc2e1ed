import { reasonsOf } from './entry.ts'

/** Who calls, and what they may do. */
export const accessReasons = reasonsOf({})
