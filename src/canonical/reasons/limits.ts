import { reasonsOf } from './entry.ts'

/** Rates, money, memory and waiting lines. */
export const limitReasons = reasonsOf({})
