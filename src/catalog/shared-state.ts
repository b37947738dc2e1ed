import type { Channel, Snapshot } from './snapshot.ts'

/**
 * Whether a tenant's requests may name what the vendor of a channel keeps, such as a file. Where several
 * tenants reach the channel, the gateway cannot know whose it is.
 */
export function mayNameState(
  { soleTenants }: Pick<Snapshot, 'soleTenants'>,
  { id, sharedState }: Pick<Channel, 'id' | 'sharedState'>,
  tenantId: string,
): boolean {
  return sharedState === undefined ? soleTenants.get(id) === tenantId : sharedState === 'allow'
}
