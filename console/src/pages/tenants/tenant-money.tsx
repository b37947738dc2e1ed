import { Button, Group, Switch } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { balanceQuery, type Tenant, tenantQuery } from '../../api/access-queries.ts'
import { api, ask, type Schema } from '../../api/client.ts'
import { useEditingOf } from '../../api/editing.ts'
import { every } from '../../api/every.ts'
import { useList } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import type { Tagged } from '../../api/tagged.ts'
import { exactMoney, money } from '../../format/money.ts'
import { AskFirst } from '../../parts/ask-first.tsx'
import { ChoiceFilter, useFilters } from '../../parts/filters.tsx'
import { Moment, Money, None } from '../../parts/formatted-values.tsx'
import { Section } from '../../parts/page.tsx'
import { usePart } from '../../parts/page-parts.tsx'
import { ListRows } from '../../parts/rows.tsx'
import { done } from '../../parts/toast.tsx'
import { Waiting } from '../../shell/waiting.tsx'
import classes from '../access/access.module.css'
import { BookEntry } from './book-entry.tsx'

/** What a tenant has left, and what running requests hold of it. */
export function TenantMoney({ tagged }: { tagged: Tagged<Tenant> }) {
  const of = tagged.data
  const may = useMay()
  const queryClient = useQueryClient()
  const balance = useQuery({ ...balanceQuery(of.id), refetchInterval: every(30_000) })
  const [isBooking, setBooking] = useState(false)
  const [isUnlimiting, setUnlimiting] = useState(false)
  const isOurs = of.managed_by === 'admin'
  const editing = useEditingOf(tenantQuery(of.id), tagged, isUnlimiting)
  const problem = usePart('the money', balance)
  const { data } = balance
  return (
    <Section
      title="Money"
      actions={
        may('money', 'write') ? (
          <>
            {of.limited && isOurs && may('tenants', 'write') ? (
              <Button variant="default" onClick={() => setUnlimiting(true)}>
                Remove the balance limit
              </Button>
            ) : null}
            <Button onClick={() => setBooking(true)}>Book entry</Button>
          </>
        ) : undefined
      }
    >
      {problem !== undefined ? (
        (problem ?? <span className="tg-quiet">Not known now</span>)
      ) : data === undefined ? (
        <Waiting rows={2} />
      ) : (
        <>
          <dl className={classes.figures}>
            <Figure name={of.limited ? 'Balance' : 'Recorded'} nanoUsd={data.balance_nano_usd} />
            <Figure name="Held by running requests" nanoUsd={data.held_nano_usd} />
            {of.limited ? (
              <Figure
                name="Free for new requests"
                nanoUsd={String(BigInt(data.balance_nano_usd) - BigInt(data.held_nano_usd))}
              />
            ) : null}
          </dl>
          <p className="tg-quiet">
            {of.limited
              ? 'Requests are refused with a 402 when nothing is free.'
              : 'The tenant is not limited to a balance: what it spends is recorded only.'}
          </p>
        </>
      )}
      <BookEntry
        of={of}
        opened={isBooking}
        onClose={() => setBooking(false)}
        balance={data?.balance_nano_usd}
      />
      <AskFirst
        opened={isUnlimiting}
        onClose={() => setUnlimiting(false)}
        verb="Remove the balance limit"
        name={of.name}
        editing={editing}
        act={async (header) => {
          await ask(
            api.PATCH('/admin/v1/tenants/{id}', {
              params: { path: { id: of.id }, header },
              body: { balance_usd: null },
            }),
          )
          await queryClient.invalidateQueries({ queryKey: ['tenants'] })
          done(`Tenant ${of.name} is not limited any more`)
        }}
      >
        Its keys may then spend without a bound, except for their budgets. What they spend is still recorded.
      </AskFirst>
    </Section>
  )
}

function Figure({ name, nanoUsd }: { name: string; nanoUsd: string }) {
  const [shown, exact] = [money(nanoUsd), exactMoney(nanoUsd)]
  return (
    <div>
      <dt>{name}</dt>
      <dd className="tg-number">
        {shown}
        {nanoUsd === '0' || shown.replaceAll(',', '') === exact ? null : <small>exactly {exact}</small>}
      </dd>
    </div>
  )
}

const kinds = [
  { value: '', label: 'All kinds' },
  { value: 'opening', label: 'Openings' },
  { value: 'top_up', label: 'Top-ups' },
  { value: 'adjustment', label: 'Adjustments' },
  { value: 'charge', label: 'Charges' },
]
const kindNames = {
  opening: 'Opening',
  top_up: 'Top-up',
  adjustment: 'Adjustment',
  charge: 'Charge',
} as const

/** Every movement of the tenant's money. Charges are many, so they are shown when the reader asks. */
export function Entries({ of }: { of: Tenant }) {
  const filters = useFilters(['kind', 'charges'])
  const kind = kinds.find(({ value }) => value === filters.get('kind'))?.value ?? ''
  const hasCharges = filters.get('charges') === 'true'
  const list = useList<Schema<'Entry'>>({
    queryKey: ['tenants', 'entries', of.id, kind, hasCharges],
    readPage: (page, signal) =>
      ask(
        api.GET('/admin/v1/tenants/{id}/entries', {
          params: {
            path: { id: of.id },
            query: {
              limit: 50,
              charges: hasCharges ? 'true' : 'false',
              ...(kind === '' ? {} : { kind: kind as Schema<'Entry'>['kind'] }),
              ...page,
            },
          },
          signal,
        }),
      ),
  })
  return (
    <Section
      title="Entries"
      actions={
        <Group gap={12}>
          <Switch
            size="xs"
            label="Charges too"
            checked={hasCharges || kind === 'charge'}
            disabled={kind !== ''}
            onChange={(event) => filters.set({ charges: event.currentTarget.checked ? 'true' : '' })}
          />
          <ChoiceFilter filters={filters} name="kind" label="Kind" options={kinds} />
        </Group>
      }
    >
      <ListRows
        label="Entries"
        things="entries"
        list={list}
        idOf={({ id }) => id}
        none="No money has moved yet. Book a top-up, or choose “Charges too” to see what requests cost."
        columns={[
          { head: 'Time', keeps: true, cell: ({ created_at }) => <Moment at={created_at} /> },
          { head: 'Kind', cell: ({ kind: of }) => kindNames[of] },
          {
            head: 'Amount',
            align: 'right',
            cell: ({ amount_nano_usd }) => <Money nanoUsd={amount_nano_usd} />,
          },
          {
            head: 'Note',
            cell: ({ id, kind: of, note }) =>
              of === 'charge' ? (
                <Link className={classes.link} to="/console/log/$id" params={{ id }}>
                  Open the request
                </Link>
              ) : (
                (note ?? <None />)
              ),
          },
        ]}
      />
    </Section>
  )
}
