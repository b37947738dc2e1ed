import { Button, Tabs } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { type ListedKey, spendDays, sumsQuery, type Tenant, tenantQuery } from '../../api/access-queries.ts'
import { api, ask } from '../../api/client.ts'
import { useEditingOf } from '../../api/editing.ts'
import { useList } from '../../api/list.ts'
import { useMay, useSession } from '../../api/session.ts'
import type { Tagged } from '../../api/tagged.ts'
import { AskFirst } from '../../parts/ask-first.tsx'
import { Copy } from '../../parts/copy.tsx'
import { useFilters } from '../../parts/filters.tsx'
import { Moment } from '../../parts/formatted-values.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { ListRows } from '../../parts/rows.tsx'
import { SpendCell } from '../../parts/spend-cells.tsx'
import { done } from '../../parts/toast.tsx'
import classes from '../access/access.module.css'
import { budgetInWords, counted, limitsInWords } from '../access/access-words.ts'
import { ManagedByFile } from '../access/managed-by-file.tsx'
import { NotThere } from '../access/not-there.tsx'
import { SpendByModel } from '../access/spend-by-model.tsx'
import { SpendChart } from '../access/spend-chart.tsx'
import { KeyName, KeyState } from '../keys/key-cells.tsx'
import { MakeKey } from '../keys/make-key.tsx'
import { WhatIsLeft } from '../keys/what-is-left.tsx'
import { Files, KeptAnswers } from './kept-content.tsx'
import { EditTenant } from './tenant-form.tsx'
import { Entries, TenantMoney } from './tenant-money.tsx'
import { TenantState } from './tenants-page.tsx'

/** One tenant: its money, its keys, what it spent and what is kept of it. */
export function TenantPage() {
  const { id = '' } = useParams({ strict: false })
  const query = useQuery(tenantQuery(id))
  if (query.data === undefined)
    return <NotThere what="Tenant" query={query} back={<Link to="/console/tenants">Show all tenants</Link>} />
  return <TenantView tagged={query.data} />
}

const tabs = [
  { value: 'overview', title: 'Overview' },
  { value: 'keys', title: 'Keys' },
  { value: 'entries', title: 'Entries' },
  { value: 'answers', title: 'Kept answers' },
  { value: 'files', title: 'Files' },
] as const

function TenantView({ tagged }: { tagged: Tagged<Tenant> }) {
  const of = tagged.data
  const may = useMay()
  const filters = useFilters(['tab'])
  const [dialog, setDialog] = useState<'edit' | 'disable'>()
  const close = () => setDialog(undefined)
  const isFile = of.managed_by === 'file'
  const mayChange = may('tenants', 'write') && !isFile
  const tab = tabs.find(({ value }) => value === filters.get('tab'))?.value ?? 'overview'
  return (
    <Page
      title={of.name}
      lead={<TenantState of={of} />}
      actions={
        <>
          <Button component={Link} to="/console/log" search={{ tenant_id: of.id } as never} variant="default">
            Open its log
          </Button>
          {mayChange ? (
            <>
              <Button variant="default" onClick={() => setDialog('edit')}>
                Edit tenant
              </Button>
              <Button
                variant={of.disabled ? 'default' : 'outline'}
                onClick={() => setDialog('disable')}
                {...(of.disabled ? {} : { color: 'var(--tg-bad)' })}
              >
                {of.disabled ? 'Enable tenant' : 'Disable tenant'}
              </Button>
            </>
          ) : null}
        </>
      }
    >
      {isFile ? <ManagedByFile what="tenant" name={of.name} /> : null}
      <Tabs
        value={tab}
        onChange={(value) => filters.set({ tab: value === 'overview' ? '' : (value ?? '') })}
        keepMounted={false}
      >
        <Tabs.List aria-label="What is shown of the tenant">
          {tabs.map(({ value, title }) => (
            <Tabs.Tab key={value} value={value}>
              {title}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map(({ value }) => (
          <Tabs.Panel key={value} value={value} pt={16} className={value === tab ? classes.panel : undefined}>
            {value === 'overview' ? <Overview tagged={tagged} /> : null}
            {value === 'keys' ? <TenantKeys of={of} /> : null}
            {value === 'entries' ? <Entries of={of} /> : null}
            {value === 'answers' ? <KeptAnswers of={of} /> : null}
            {value === 'files' ? <Files of={of} /> : null}
          </Tabs.Panel>
        ))}
      </Tabs>
      {dialog === 'edit' ? <EditTenant of={tagged} opened onClose={close} /> : null}
      <DisableTenant of={tagged} opened={dialog === 'disable'} onClose={close} />
    </Page>
  )
}

function Overview({ tagged }: { tagged: Tagged<Tenant> }) {
  const of = tagged.data
  const may = useMay()
  const { retention } = of
  const days = (value: number | null) => (value === null ? 'as for all tenants' : counted(value, 'day'))
  return (
    <>
      <div className={classes.columns}>
        <div className={classes.panel}>
          {may('money') ? <TenantMoney tagged={tagged} /> : null}
          <WhatIsLeft of="tenant" id={of.id} />
        </div>
        <Section title="Settings">
          <Facts
            facts={[
              ['Limits', limitsInWords(of.limits) ?? 'unbounded'],
              ['Budget', budgetInWords(of.budget) ?? 'none'],
              ['Rows of the log', days(retention.rows_days)],
              ['Bodies', days(retention.bodies_days)],
              ['Answers', days(retention.answers_days)],
              ['Managed by', of.managed_by === 'file' ? 'gateway.yaml' : 'admins'],
              ['Made', <Moment key="made" at={of.created_at} />],
              ...(of.disabled_at === null
                ? []
                : [['Disabled', <Moment key="disabled" at={of.disabled_at} />] as const]),
              [
                'Id',
                <span key="id" className="tg-mono">
                  {of.id} <Copy text={of.id} what="the id" />
                </span>,
              ],
            ]}
          />
        </Section>
      </div>
      <SpendChart of="tenant" id={of.id} filter={{ tenant_id: of.id }} />
      <SpendByModel of={{ tenant: of.id }} filter={{ tenant_id: of.id }} />
    </>
  )
}

function TenantKeys({ of }: { of: Tenant }) {
  const may = useMay()
  const isMember = useSession().role === 'member'
  const [isMaking, setMaking] = useState(false)
  const list = useList<ListedKey>({
    queryKey: ['keys', 'of tenant', of.id],
    readPage: (page, signal) =>
      ask(
        api.GET('/admin/v1/keys', {
          params: { query: { tenant: of.id, limit: 50, spend_days: spendDays, ...page } },
          signal,
        }),
      ),
  })
  return (
    <Section
      title="Keys"
      actions={
        <>
          <Link
            className={classes.link}
            to="/console/keys"
            search={(isMember ? {} : { tenant: of.name }) as never}
          >
            Search its keys
          </Link>
          {may('keys', 'write') ? <Button onClick={() => setMaking(true)}>Make key</Button> : null}
        </>
      }
    >
      <ListRows
        label="Keys of the tenant"
        things="keys"
        list={list}
        idOf={({ id }) => id}
        none="It has no key yet, so no program can use it."
        columns={[
          { head: 'Name', cell: (key) => <KeyName of={key} /> },
          { head: 'State', keeps: true, cell: (key) => <KeyState of={key} /> },
          { head: 'Group', cell: ({ group }) => group },
          { head: 'Expires', keeps: true, cell: ({ expires_at }) => <Moment at={expires_at} none="never" /> },
          {
            head: 'Spend, 30 days',
            align: 'right',
            cell: ({ spend }) => <SpendCell of={spend} />,
          },
        ]}
      />
      <MakeKey opened={isMaking} onClose={() => setMaking(false)} tenant={of.id} />
    </Section>
  )
}

function DisableTenant({
  of: newest,
  opened,
  onClose,
}: {
  of: Tagged<Tenant>
  opened: boolean
  onClose(): void
}) {
  const queryClient = useQueryClient()
  const editing = useEditingOf(tenantQuery(newest.data.id), newest, opened)
  const of = editing.base
  const sums = useQuery({ ...sumsQuery({ by: 'key', hours: 24, tenant: of.id }), enabled: opened })
  const keys = sums.data?.data.filter(({ requests }) => requests > 0).length ?? 0
  const verb = of.disabled ? 'Enable tenant' : 'Disable tenant'
  return (
    <AskFirst
      opened={opened}
      onClose={onClose}
      verb={verb}
      name={of.name}
      editing={editing}
      act={async (header) => {
        await ask(
          api.PATCH('/admin/v1/tenants/{id}', {
            params: { path: { id: of.id }, header },
            body: { disabled: !of.disabled },
          }),
        )
        await queryClient.invalidateQueries({ queryKey: ['tenants'] })
        done(`Tenant ${of.name} is ${of.disabled ? 'enabled' : 'disabled'}`)
      }}
    >
      {of.disabled ? (
        <>All its keys that are enabled work again, within a second.</>
      ) : (
        <>
          The gateway refuses all its keys, within a second, until somebody enables it again.{' '}
          <strong>
            {sums.isError
              ? 'What its keys did in the last 24 hours cannot be read now.'
              : sums.data === undefined
                ? 'Reading what its keys did in the last 24 hours…'
                : keys === 0
                  ? 'None of its keys made a request in the last 24 hours.'
                  : `${counted(keys, 'key')} made ${counted(sums.data.total.requests, 'request')} in the last 24 hours.`}
          </strong>
        </>
      )}
    </AskFirst>
  )
}
