import { Button, Modal, Tabs } from '@mantine/core'
import { PlusIcon } from '@primer/octicons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useMemo, useState } from 'react'
import { useMay, useSession } from '../../api/session.ts'
import { useTenantName } from '../../api/tenant-names.ts'
import type { Texts } from '../../console-search.ts'
import { rangeOf } from '../../format/range.ts'
import { Code } from '../../parts/code.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ChoiceFilter, FilterBar, type Filters, useFilters } from '../../parts/filters.tsx'
import { ListGrid } from '../../parts/list-grid.tsx'
import { useOpenRow } from '../../parts/open-row.ts'
import { Page } from '../../parts/page.tsx'
import { RangePicker } from '../../parts/range-picker.tsx'
import { WithSheet } from '../../parts/sheet.tsx'
import { useIsWatched } from '../overview/overview-query.ts'
import { historyColumns, ruleColumns } from './alert-columns.tsx'
import {
  type Episode,
  historyFilters,
  type Rule,
  useEpisodeHistory,
  useOpenEpisodes,
  useRules,
} from './alerts-query.ts'
import { EpisodeSheet } from './episode-sheet.tsx'
import { OpenEpisodes } from './open-episodes.tsx'
import { ruleKinds } from './rule-fields.ts'
import { RuleForm } from './rule-form.tsx'
import { RuleSheet } from './rule-sheet.tsx'

/** What somebody should look at now, what was, and the rules that say so. */
export function AlertsPage() {
  const search: Texts = useSearch({ strict: false })
  const navigate = useNavigate()
  const may = useMay()
  const filters = useFilters([...historyFilters, 'last', 'from', 'to'])
  const [isMaking, setMaking] = useState(false)
  const [secret, setSecret] = useState<string | undefined>(undefined)
  const tab = search.tab === 'rules' || search.tab === 'history' ? search.tab : 'now'
  const add = may('alerts', 'write') ? (
    <Button leftSection={<PlusIcon size={14} />} onClick={() => setMaking(true)}>
      Make a rule
    </Button>
  ) : undefined
  return (
    <Page
      wide
      title="Alerts"
      actions={
        <>
          {tab === 'history' ? <HistoryFilters filters={filters} search={search} /> : null}
          {add}
        </>
      }
    >
      <Tabs
        value={tab}
        onChange={(next) =>
          void navigate({
            to: '/console/alerts',
            search: next === null || next === 'now' ? {} : { tab: next },
          })
        }
      >
        <Tabs.List>
          <Tabs.Tab value="now">Wrong now</Tabs.Tab>
          <Tabs.Tab value="history">History</Tabs.Tab>
          <Tabs.Tab value="rules">Rules</Tabs.Tab>
        </Tabs.List>
      </Tabs>
      {tab === 'now' ? <Now search={search} add={add} /> : null}
      {tab === 'history' ? <History search={search} filters={filters} /> : null}
      {tab === 'rules' ? <Rules search={search} add={add} onSecret={setSecret} /> : null}
      <Modal opened={isMaking} onClose={() => setMaking(false)} title="Make a rule" size="lg">
        <RuleForm
          onDone={(made) => {
            setMaking(false)
            setSecret(made)
            void navigate({ to: '/console/alerts', search: { tab: 'rules' } })
          }}
        />
      </Modal>
      <Modal
        opened={secret !== undefined}
        onClose={() => setSecret(undefined)}
        closeOnClickOutside={false}
        title="The secret of the webhook"
      >
        <p>It signs the messages. It is shown only now: keep it where your server checks signatures.</p>
        <Code text={secret ?? ''} what="the secret" />
      </Modal>
    </Page>
  )
}

function Now({ search, add }: { search: Texts; add: ReactNode }) {
  const { id, close } = useOpenRow('/console/alerts', search)
  const list = useOpenEpisodes()
  const watched = useIsWatched(true)
  return (
    <WithSheet sheet={id === undefined ? null : <EpisodeSheet key={id} id={id} onClose={close} />}>
      <OpenEpisodes
        list={list}
        openId={id}
        search={search}
        empty={
          watched.data === false ? (
            <EmptyState title="Nobody is watching" action={add}>
              When a rule holds, an episode begins here, and a webhook is told. Make a rule for what you would
              want to know at night.
            </EmptyState>
          ) : (
            <EmptyState title="Nothing is wrong">No rule that is watched holds now.</EmptyState>
          )
        }
      />
    </WithSheet>
  )
}

function HistoryFilters({ filters, search }: { filters: Filters; search: Texts }) {
  return (
    <FilterBar filters={filters}>
      <ChoiceFilter
        filters={filters}
        name="kind"
        label="Kind"
        options={[
          { value: '', label: 'Every kind' },
          ...ruleKinds.map(({ kind, title }) => ({ value: kind, label: title })),
        ]}
      />
      {filters.get('rule_id') === '' ? null : (
        <Button variant="default" onClick={() => filters.set({ rule_id: '' })}>
          Show every rule
        </Button>
      )}
      <RangePicker
        range={rangeOf(search)}
        clears
        onChange={({ last = '', from = '', to = '' }) => filters.set({ last, from, to })}
      />
    </FilterBar>
  )
}

function History({ search, filters }: { search: Texts; filters: Filters }) {
  const { id, close, open } = useOpenRow('/console/alerts', search)
  const [asOf] = useState(() => new Date())
  const list = useEpisodeHistory(search, asOf)
  return (
    <WithSheet sheet={id === undefined ? null : <EpisodeSheet key={id} id={id} onClose={close} />}>
      <ListGrid<Episode>
        label="Closed episodes"
        things="closed episodes"
        list={list}
        columns={historyColumns}
        idOf={idOf}
        openId={id}
        onOpen={open}
        onFilter={(column, { rule }, keeps) => {
          if (column === 'rule' && keeps) filters.set({ rule_id: rule.id })
        }}
        empty={
          filters.isAny ? (
            <EmptyState
              title="No closed episode matches"
              action={
                <Button onClick={() => filters.set({ kind: '', rule_id: '', last: '', from: '', to: '' })}>
                  Show all closed episodes
                </Button>
              }
            />
          ) : (
            <EmptyState title="No episode has closed yet">
              An episode that ends moves here. It says how long it lasted, and who looked after it.
            </EmptyState>
          )
        }
      />
    </WithSheet>
  )
}

function Rules({ search, add, onSecret }: { search: Texts; add: ReactNode; onSecret(secret: string): void }) {
  const { id, close, open } = useOpenRow('/console/alerts', search)
  const { role } = useSession()
  const tenantName = useTenantName()
  const list = useRules()
  const columns = useMemo(() => ruleColumns(role === 'member' ? undefined : tenantName), [role, tenantName])
  return (
    <WithSheet
      sheet={id === undefined ? null : <RuleSheet key={id} id={id} onClose={close} onSecret={onSecret} />}
    >
      <ListGrid<Rule>
        label="Rules"
        things="rules"
        list={list}
        columns={columns}
        idOf={idOf}
        openId={id}
        onOpen={open}
        empty={
          <EmptyState title="No rule yet" action={add}>
            A rule watches budgets, errors, latencies, channels, the ledger, or the networks of keys.
          </EmptyState>
        }
      />
    </WithSheet>
  )
}

function idOf({ id }: { id: string }): string {
  return id
}
