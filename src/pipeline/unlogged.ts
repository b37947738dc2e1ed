import type { Identity } from '../access/identity.ts'

/** A request that ended without a row, such as a read of the usage log. */
export interface Unlogged {
  id: string
  path: string
  status: number
  identity: Identity | null
  ms: number
}
