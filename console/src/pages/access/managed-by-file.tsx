import { Notice } from '../../parts/state.tsx'

/** Rows of gateway.yaml cannot be changed here. */
export function ManagedByFile({ what, name }: { what: 'tenant' | 'key' | 'group'; name: string }) {
  const list = { tenant: 'tenants', key: 'keys of its tenant, in tenants', group: 'groups' }[what]
  return (
    <Notice tone="info">
      The file gateway.yaml manages this {what}. To change it, edit <code>{name}</code> under{' '}
      <code>{list}</code> in that file; the gateway applies it without a restart.
    </Notice>
  )
}
