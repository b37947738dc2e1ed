import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, ask, type Schema } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { useTenantName } from '../../api/tenant-names.ts'
import { changesOf, membersOf } from '../../parts/changes.ts'
import { ChangesTable } from '../../parts/changes-table.tsx'
import { Copy } from '../../parts/copy.tsx'
import { Moment } from '../../parts/formatted-values.tsx'
import { Facts, Section } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import { wordsOfAction } from './action-words.ts'
import { placeOf, resourceTitle } from './audit-fields.ts'

type Line = Schema<'AuditEntry'>

/** One change: who, what, and before beside after. `line`: where the list has read it already. */
export function AuditSheet({
  id,
  line: read,
  onClose,
}: {
  id: string
  line: Line | undefined
  onClose(): void
}) {
  const found = useQuery<Line | null>({
    queryKey: ['audit', 'one', id],
    enabled: read === undefined,
    queryFn: async ({ signal }) =>
      (await ask(api.GET('/admin/v1/audit', { params: { query: { id, limit: 1 } }, signal }))).data[0] ??
      null,
  })
  const line = read ?? found.data
  return (
    <Sheet
      title={
        line === null || line === undefined
          ? 'A change'
          : `${wordsOfAction(line.action)}: ${line.resource_name ?? line.resource_id}`
      }
      onClose={onClose}
      actions={<Copy text={id} what="the id of the change" />}
    >
      {line === undefined && found.error !== null ? (
        <Problem error={found.error} onAgain={() => void found.refetch()} />
      ) : null}
      {line === undefined && found.isPending ? <Skeleton height={240} radius={6} /> : null}
      {line === null ? <span className="tg-quiet">There is no such change.</span> : null}
      {line === null || line === undefined ? null : <Body line={line} />}
    </Sheet>
  )
}

function Body({ line }: { line: Line }) {
  const { actor, created_at, address, user_agent, request_id, resource, resource_id, tenant_id } = line
  const tenantName = useTenantName()
  const may = useMay()
  const found = placeOf(line)
  const place = found !== undefined && may(found.area) ? found : undefined
  const name = `${resourceTitle(resource)} ${line.resource_name ?? resource_id}`
  return (
    <>
      <Facts
        facts={[
          ['Time', <Moment key="at" at={created_at} />],
          ['What', `${wordsOfAction(line.action)} (${line.action})`],
          ['Who', `${actor.name} (${actor.kind})`],
          ['From where', address ?? 'the gateway itself'],
          ['With', user_agent ?? '–'],
          [
            'To what',
            place === undefined ? (
              name
            ) : (
              <Link key="to" to={place.to} search={(place.search ?? {}) as never}>
                {name}
              </Link>
            ),
          ],
          [
            'Tenant',
            tenant_id === null ? (
              'none'
            ) : (
              <Link key="tenant" to="/console/tenants/$id" params={{ id: tenant_id }}>
                {tenantName(tenant_id)}
              </Link>
            ),
          ],
          [
            'Call',
            request_id === null ? (
              '–'
            ) : (
              <span key="call">
                <span className="tg-mono">{request_id}</span> <Copy text={request_id} what="the request id" />
              </span>
            ),
          ],
        ]}
      />
      <Difference line={line} />
      <div>
        <Button
          variant="default"
          component={Link}
          to="/console/audit"
          search={{ resource, resource_id } as never}
        >
          All changes of this {resourceTitle(resource)}
        </Button>
      </div>
    </>
  )
}

function Difference({ line: { before, after } }: { line: Line }) {
  const wasThere = before !== null && before !== undefined
  const isThere = after !== null && after !== undefined
  if (wasThere !== isThere) {
    const members = membersOf(wasThere ? before : after)
    if (members.length > 0) {
      return (
        <Section title={wasThere ? 'What it was' : 'As it was made'}>
          <Facts facts={members} />
        </Section>
      )
    }
  }
  const changes = changesOf(before, after)
  if (changes.length === 0) {
    return (
      <span className="tg-quiet">
        Nothing that is shown has changed. The change was of a secret, or of something without a state.
      </span>
    )
  }
  return (
    <Section title="What has changed">
      <ChangesTable changes={changes} />
    </Section>
  )
}
