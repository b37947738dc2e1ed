/** The tenant and the group of probes and tests of channels. */
export const ownName = 'tollgate-probes'

/** Beside the name of a tenant or a group that is nobody's: Tollgate has made it for itself. */
export function OwnMark({ name }: { name: string }) {
  return name === ownName ? (
    <span className="tg-quiet" title="Of its probes and tests of channels. It is no customer.">
      {' '}
      Tollgate’s own
    </span>
  ) : null
}
