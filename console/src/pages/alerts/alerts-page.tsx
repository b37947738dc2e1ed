import { Button, Modal, Tabs } from '@mantine/core'
import { PlusIcon } from '@primer/octicons-react'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import type { Texts } from '../../console-search.ts'
import { Code } from '../../parts/code.tsx'
import type { Column } from '../../parts/grid.tsx'
import { ListGrid } from '../../parts/list-grid.tsx'
import { Page } from '../../parts/page.tsx'
import { WithSheet } from '../../parts/sheet.tsx'
import { Teach } from '../../parts/teach.tsx'
import { State } from '../../parts/tone.tsx'
import { Clock, None } from '../../parts/values.tsx'
import { EpisodeSheet } from './episode-sheet.tsx'
import { kindOf } from './rule-fields.ts'
import { RuleForm } from './rule-form.tsx'
import { RuleSheet } from './rule-sheet.tsx'

export type Episode = Schema<'AlertEpisode'>
export type Rule = Schema<'AlertRule'>

const episodeColumns: readonly Column<Episode>[] = [
  {
    id: 'at',
    head: 'Since',
    width: 152,
    cell: (row, above) => <Clock at={row.opened_at} after={above?.opened_at} />,
  },
  {
    id: 'state',
    head: 'State',
    width: 144,
    cell: ({ state, acknowledged }) => (
      <State tone={state === 'closed' ? 'quiet' : acknowledged === null ? 'bad' : 'warning'}>
        {state === 'open' && acknowledged !== null ? 'acknowledged' : state}
      </State>
    ),
  },
  { id: 'rule', head: 'Rule', width: 152, cell: ({ rule }) => rule.name },
  { id: 'name', head: 'About', width: 144, isWide: true, cell: ({ name }) => name },
  {
    id: 'summary',
    head: 'What',
    width: 240,
    grows: true,
    cell: ({ summary }) => <span title={summary}>{summary}</span>,
  },
]

const ruleColumns: readonly Column<Rule>[] = [
  { id: 'name', head: 'Rule', width: 176, grows: true, cell: ({ name }) => name },
  { id: 'kind', head: 'When', width: 216, grows: true, cell: ({ kind }) => kindOf(kind)?.title ?? kind },
  {
    id: 'state',
    head: 'State',
    width: 112,
    cell: ({ enabled }) => <State tone={enabled ? 'good' : 'quiet'}>{enabled ? 'watched' : 'off'}</State>,
  },
  {
    id: 'webhook',
    head: 'Tells',
    width: 176,
    isWide: true,
    cell: ({ webhook }) => webhook?.host ?? <None why="Nobody: the console shows it" />,
  },
]

/** What somebody should look at, and the rules that say so. */
export function AlertsPage() {
  const search: Texts = useSearch({ strict: false })
  const { id } = useParams({ strict: false })
  const navigate = useNavigate()
  const may = useMay()
  const [isMaking, setMaking] = useState(false)
  const [secret, setSecret] = useState<string | undefined>(undefined)
  const tab = search.tab === 'rules' ? 'rules' : 'episodes'
  const episodes = useList<Episode>({
    queryKey: ['alert-episodes'],
    readPage: (cursor, signal) =>
      ask(
        api.GET('/admin/v1/alerts/episodes', {
          params: { query: { limit: 100, ...(cursor === undefined ? {} : { cursor }) } },
          signal,
        }),
      ),
    enabled: tab === 'episodes',
  })
  const rules = useList<Rule>({
    queryKey: ['alert-rules'],
    readPage: (cursor, signal) =>
      ask(
        api.GET('/admin/v1/alerts', {
          params: { query: { limit: 100, ...(cursor === undefined ? {} : { cursor }) } },
          signal,
        }),
      ),
    enabled: tab === 'rules',
  })
  const add = may('alerts', 'write') ? (
    <Button leftSection={<PlusIcon size={14} />} onClick={() => setMaking(true)}>
      Make a rule
    </Button>
  ) : undefined
  const close = () => void navigate({ to: '/console/alerts', search })
  const open = (row: { id: string }) =>
    void navigate({ to: '/console/alerts/$id', params: { id: row.id }, search, replace: id !== undefined })
  return (
    <Page wide title="Alerts" actions={add}>
      <Tabs
        value={tab}
        onChange={(next) =>
          void navigate({ to: '/console/alerts', search: next === 'rules' ? { tab: 'rules' } : {} })
        }
      >
        <Tabs.List>
          <Tabs.Tab value="episodes">What happened</Tabs.Tab>
          <Tabs.Tab value="rules">Rules</Tabs.Tab>
        </Tabs.List>
      </Tabs>
      {tab === 'episodes' ? (
        <WithSheet sheet={id === undefined ? null : <EpisodeSheet id={id} onClose={close} />}>
          <ListGrid<Episode>
            label="Episodes"
            things="episodes"
            list={episodes}
            columns={episodeColumns}
            idOf={idOf}
            openId={id}
            onOpen={open}
            toneOf={({ state }) => (state === 'open' ? 'bad' : undefined)}
            empty={
              <Teach title="Nothing to look at" action={add}>
                When a rule holds, an episode begins here, and a webhook is told. Make a rule for what you
                would want to know at night.
              </Teach>
            }
          />
        </WithSheet>
      ) : (
        <WithSheet
          sheet={id === undefined ? null : <RuleSheet id={id} onClose={close} onSecret={setSecret} />}
        >
          <ListGrid<Rule>
            label="Rules"
            things="rules"
            list={rules}
            columns={ruleColumns}
            idOf={idOf}
            openId={id}
            onOpen={open}
            empty={
              <Teach title="No rule yet" action={add}>
                A rule watches budgets, errors, latencies, channels, the ledger, or the networks of keys.
              </Teach>
            }
          />
        </WithSheet>
      )}
      <Modal opened={isMaking} onClose={() => setMaking(false)} title="Make a rule">
        <RuleForm
          rule={undefined}
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
        title="The secret of the webhook"
      >
        <p>It signs the messages. It is shown only now: keep it where your server checks signatures.</p>
        <Code text={secret ?? ''} what="the secret" />
      </Modal>
    </Page>
  )
}

function idOf({ id }: { id: string }): string {
  return id
}
