import { Link } from '@tanstack/react-router'
import { Copy } from '../../parts/copy.tsx'
import { Facts } from '../../parts/page.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import { Moment } from '../../parts/values.tsx'
import classes from './audit.module.css'
import type { Line } from './audit-page.tsx'
import { changesOf } from './changes.ts'

/** The pages of the things that the audit names. */
const pages = {
  tenant: '/console/tenants/$id',
  key: '/console/keys/$id',
  group: '/console/groups/$id',
  channel: '/console/channels/$id',
  model: '/console/models/$id',
} as const

function isPaged(resource: string): resource is keyof typeof pages {
  return resource in pages
}

/** One change: who, what, and before beside after. */
export function AuditSheet({
  id,
  line,
  isReading,
  onClose,
}: {
  id: string
  line: Line | undefined
  isReading: boolean
  onClose(): void
}) {
  if (line === undefined) {
    return (
      <Sheet title="A change" onClose={onClose}>
        <span className="tg-quiet">
          {isReading
            ? 'Reading…'
            : `The change ${id} is not among the rows that were read. Scroll down, or remove filters.`}
        </span>
      </Sheet>
    )
  }
  const {
    action,
    actor,
    created_at,
    address,
    user_agent,
    request_id,
    resource,
    resource_id,
    resource_name,
    before,
    after,
  } = line
  const page = isPaged(resource) ? pages[resource] : undefined
  const changes = changesOf(before, after)
  return (
    <Sheet
      title={`${action} ${resource_name ?? ''}`}
      onClose={onClose}
      actions={<Copy text={line.id} what="the id of the change" />}
    >
      <Facts
        facts={[
          ['Time', <Moment key="at" at={created_at} />],
          ['Who', `${actor.name} (${actor.kind})`],
          ['From where', address ?? 'the gateway itself'],
          ['With', user_agent ?? '–'],
          [
            'To what',
            page === undefined ? (
              `${resource} ${resource_name ?? resource_id}`
            ) : (
              <Link key="to" to={page} params={{ id: resource_id }}>
                {resource} {resource_name ?? resource_id}
              </Link>
            ),
          ],
          ['Request id', request_id ?? '–'],
        ]}
      />
      {changes.length === 0 ? (
        <span className="tg-quiet">
          Nothing that is shown has changed: a secret, or an action without a state.
        </span>
      ) : (
        <table className={classes.changes}>
          <thead>
            <tr>
              <th>Field</th>
              <th>Before</th>
              <th>After</th>
            </tr>
          </thead>
          <tbody>
            {changes.map(({ path, kind, before: was, after: is }) => (
              <tr key={path} data-kind={kind}>
                <th scope="row">{path}</th>
                <td>{was ?? <span className="tg-quiet">not there</span>}</td>
                <td>{is ?? <span className="tg-quiet">not there</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Sheet>
  )
}
