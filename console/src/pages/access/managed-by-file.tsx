import { useSession } from '../../api/session.ts'
import { Notice } from '../../parts/state.tsx'

/** Rows of gateway.yaml cannot be changed here. */
export function ManagedByFile({ what, name }: { what: 'tenant' | 'key' | 'group'; name: string }) {
  if (useSession().role === 'member')
    return (
      <Notice tone="info">
        The operator of the gateway manages this {what}
        {what === 'key' ? '. If its secret has leaked, block it; ask' : ': ask'} an admin for any other
        change.
      </Notice>
    )
  return (
    <Notice tone="info">
      The file gateway.yaml manages this {what}. To change it, edit <code>{name}</code> under{' '}
      {what === 'key' ? (
        <>
          the <code>keys</code> of its tenant
        </>
      ) : (
        <code>{what}s</code>
      )}{' '}
      in that file; the gateway applies it without a restart.
    </Notice>
  )
}
