import { reasonsOf } from './entry.ts'

/** What only the admin API and sign-in refuse. */
export const adminReasons = reasonsOf({})
