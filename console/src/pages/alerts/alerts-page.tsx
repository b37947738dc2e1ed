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
import { UsualRules, WatchUsual } from './usual-rules.tsx'

/** What somebody should look at now, what was, and the rules that say so. */
export function AlertsPage() {
  const search: Texts = useSearch({ strict: false })
  const navigate = useNavigate()
  const may = useMay()
  const filters = useFilters([...historyFilters, 'last', 'from', 'to'])
  const [makes, setMakes] = useState<'rule' | 'usual' | undefined>(undefined)
  const [secret, setSecret] = useState<string | undefined>(undefined)
  const tab = search.tab === 'rules' || search.tab === 'history' ? search.tab : 'now'
  const mayMake = may('alerts', 'write')
  const add = mayMake ? (
    <Button
      variant={tab === 'rules' ? 'filled' : 'default'}
      leftSection={<PlusIcon size={14} />}
      onClick={() => setMakes('rule')}
    >
      Create rule
    </Button>
  ) : undefined
  const first = mayMake ? <WatchUsual isFirst onClick={() => setMakes('usual')} /> : undefined
  const toRules = (secret: string | undefined) => {
    setMakes(undefined)
    setSecret(secret)
    void navigate({ to: '/console/alerts', search: { tab: 'rules' } })
  }
  return (
    <Page
      wide
      title="Alerts"
      actions={
        <>
          {tab === 'history' ? <HistoryFilters filters={filters} search={search} /> : null}
          {mayMake && tab === 'rules' ? <WatchUsual onClick={() => setMakes('usual')} /> : null}
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
      {tab === 'now' ? <Now search={search} first={first} /> : null}
      {tab === 'history' ? <History search={search} filters={filters} /> : null}
      {tab === 'rules' ? <Rules search={search} first={first} onSecret={setSecret} /> : null}
      <Modal opened={makes === 'rule'} onClose={() => setMakes(undefined)} title="Create rule" size="lg">
        <RuleForm onDone={toRules} />
      </Modal>
      <UsualRules opened={makes === 'usual'} onClose={() => setMakes(undefined)} onDone={toRules} />
      <Modal
        opened={secret !== undefined}
        onClose={() => setSecret(undefined)}
        closeOnClickOutside={false}
        title="Webhook secret"
      >
        <p>It signs the messages, and is shown only now. Your receiver needs it to check signatures.</p>
        <Code text={secret ?? ''} what="the secret" />
      </Modal>
    </Page>
  )
}

function Now({ search, first }: { search: Texts; first: ReactNode }) {
  const { id, close } = useOpenRow('/console/alerts', search)
  const list = useOpenEpisodes()
  const watched = useIsWatched(true)
  const isMember = useSession().role === 'member'
  return (
    <WithSheet sheet={id === undefined ? null : <EpisodeSheet key={id} id={id} onClose={close} />}>
      <OpenEpisodes
        list={list}
        openId={id}
        search={search}
        empty={
          watched.data === false ? (
            <EmptyState title="No alert rules yet" action={first}>
              When a rule fires, it appears here and your webhook is called. Begin with the usual ones:{' '}
              {isMember
                ? 'errors, and budgets that run out.'
                : 'errors, channels that are down, budgets that run out, a ledger that is behind.'}
            </EmptyState>
          ) : (
            <EmptyState title="Nothing is wrong">No enabled rule fires now.</EmptyState>
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
              An alert that has closed moves here, with how long it lasted and who acknowledged it.
            </EmptyState>
          )
        }
      />
    </WithSheet>
  )
}

function Rules({
  search,
  first,
  onSecret,
}: {
  search: Texts
  first: ReactNode
  onSecret(secret: string): void
}) {
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
          <EmptyState title="No alert rules yet" action={first}>
            A rule watches budgets, errors, latencies,{role === 'member' ? '' : ' channels, the ledger,'} or
            the networks of keys.
          </EmptyState>
        }
      />
    </WithSheet>
  )
}

function idOf({ id }: { id: string }): string {
  return id
}
