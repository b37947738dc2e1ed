import type { Channel, Snapshot } from './snapshot.ts'

/**
 * Whether a tenant's requests can refer to objects that the channel's vendor stores, such as files. If
 * several tenants reach the channel, the gateway cannot know to whom an object belongs.
 */
export function mayNameState(
  { soleTenants }: Pick<Snapshot, 'soleTenants'>,
  { id, sharedState }: Pick<Channel, 'id' | 'sharedState'>,
  tenantId: string,
): boolean {
  return sharedState === undefined ? soleTenants.get(id) === tenantId : sharedState === 'allow'
}
