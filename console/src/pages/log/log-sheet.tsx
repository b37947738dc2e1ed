import { Button, Skeleton, Stack, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError, api, ask, type Schema } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import type { Texts } from '../../console-search.ts'
import { Copy } from '../../parts/copy.tsx'
import { copyText } from '../../parts/copy-text.ts'
import { Problem } from '../../parts/problem.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import { Notice } from '../../parts/state.tsx'
import { done } from '../../parts/toast.tsx'
import { gatewayUrl } from '../../site.ts'
import { ConversationLink } from './conversation-link.tsx'
import { AnswerTab, EntriesTab, NotesTab } from './log-tabs.tsx'
import { RequestTab } from './request-tab.tsx'
import { RowCost } from './row-cost.tsx'
import { RowError } from './row-error.tsx'
import { RowFacts } from './row-facts.tsx'
import { Waterfall } from './waterfall.tsx'

/** One row with all that is kept of it. */
export function LogSheet({
  id,
  search,
  onFilter,
  onClose,
}: {
  id: string
  search: Texts
  onFilter(search: Texts): void
  onClose(): void
}) {
  // Stays the same while the reader walks through rows.
  const [tab, setTab] = useState('request')
  const row = useQuery({
    queryKey: ['log-row', id],
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/requests/{id}', { params: { path: { id } }, signal })),
    refetchInterval: ({ state }) => (isMissing(state.error) ? lookAgainMs(ageOf(id)) : false),
  })
  const age = ageOf(id)
  return (
    <Sheet
      title={row.data === undefined ? 'Request' : titleOf(row.data)}
      onClose={onClose}
      actions={isMissing(row.error) ? undefined : <Actions id={id} row={row.data} />}
    >
      {isMissing(row.error) ? (
        age === 'young' ? (
          <Notice tone="info">It has no row yet. The page looks again.</Notice>
        ) : (
          <Notice tone="warning">
            There is no such request.
            {age === 'recent'
              ? ' One that still runs gets its row when it ends: the page looks again.'
              : ' Check the id. A row that is older than the log keeps is gone.'}
          </Notice>
        )
      ) : row.error !== null ? (
        <Problem error={row.error} onAgain={() => void row.refetch()} />
      ) : row.data === undefined ? (
        <Stack gap={12} role="status" aria-label="Loading">
          <Skeleton height={20} />
          <Skeleton height={80} />
          <Skeleton height={200} />
        </Stack>
      ) : (
        <Row row={row.data} tab={tab} onTab={setTab} search={search} onFilter={onFilter} />
      )}
    </Sheet>
  )
}

function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
}

/** `young`: its row can be on its way. `recent`: a request of that time can still run. */
type Age = 'young' | 'recent' | 'old'

function lookAgainMs(age: Age): number | false {
  return age === 'young' ? 1_000 : age === 'recent' ? 10_000 : false
}

/** How long ago the request began: its id is a UUID of version 7, and other ones are of no request. */
function ageOf(id: string): Age {
  const ms = Date.now() - startOf(id)
  // The clock of the browser may be late.
  if (id[14] !== '7' || ms < -60_000) return 'old'
  return ms < 20_000 ? 'young' : ms < 10 * 60_000 ? 'recent' : 'old'
}

/** In ms. https://www.rfc-editor.org/rfc/rfc9562#section-5.7 */
function startOf(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
}

function titleOf({ endpoint, status, stream, outcome }: Schema<'LogDetail'>): string {
  return `${endpoint}  ${status}${stream ? ' streamed' : ''}${outcome === 'succeeded' ? '' : `, ${outcome}`}`
}

/**
 * Where the gateway does not know how clients reach it, the page does: the pasted command then needs the key
 * alone.
 */
function addressed(command: string): string {
  return command.replace(`"$TOLLGATE_URL"'`, () => `'${gatewayUrl}`)
}

function Actions({ id, row }: { id: string; row: Schema<'LogDetail'> | undefined }) {
  const may = useMay()
  const curl = row?.as_curl
  return (
    <>
      <Copy text={id} what="the request id" />
      {curl === null || curl === undefined ? null : (
        <Button
          variant="default"
          onClick={async () => {
            if (await copyText(addressed(curl.command)))
              done(
                ['Copied the command. It sends the key that is in TOLLGATE_KEY.', ...curl.differs].join(' '),
              )
          }}
        >
          Copy as curl
        </Button>
      )}
      {may('playground', 'write') ? (
        <Button variant="default" component={Link} to={`/console/playground?from=${id}`}>
          Open in the playground
        </Button>
      ) : null}
    </>
  )
}

/** The list beside the sheet has no room for it. */
function WhoAsked({ row: { tenant, key, requested_model: model } }: { row: Schema<'LogDetail'> }) {
  return (
    <div>
      <strong>{tenant === null ? 'Unknown caller' : (tenant.name ?? '?')}</strong>{' '}
      <span className="tg-quiet">
        {key === null ? '' : `/ ${key.name ?? '?'}`}
        {model === null ? '' : ` asked for ${model}`}
      </span>
    </div>
  )
}

function Row({
  row,
  tab,
  onTab,
  search,
  onFilter,
}: {
  row: Schema<'LogDetail'>
  tab: string
  onTab(tab: string): void
  search: Texts
  onFilter(search: Texts): void
}) {
  return (
    <>
      <WhoAsked row={row} />
      <RowError row={row} />
      <Waterfall row={row} />
      <RowCost row={row} />
      {row.session === null ? null : <ConversationLink row={row} session={row.session} />}
      <Tabs key={row.id} value={tab} onChange={(next) => onTab(next ?? 'request')} keepMounted={false}>
        <Tabs.List mb={12}>
          <Tabs.Tab value="request">Request</Tabs.Tab>
          <Tabs.Tab value="answer">Answer</Tabs.Tab>
          <Tabs.Tab value="properties">Properties</Tabs.Tab>
          <Tabs.Tab value="notes">Notes {row.notes.length === 0 ? '' : `(${row.notes.length})`}</Tabs.Tab>
          <Tabs.Tab value="entries">
            Entries {row.entries.length === 0 ? '' : `(${row.entries.length})`}
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="request">
          <RequestTab row={row} />
        </Tabs.Panel>
        <Tabs.Panel value="answer">
          <AnswerTab row={row} />
        </Tabs.Panel>
        <Tabs.Panel value="properties">
          <RowFacts row={row} search={search} onFilter={onFilter} />
        </Tabs.Panel>
        <Tabs.Panel value="notes">
          <NotesTab row={row} />
        </Tabs.Panel>
        <Tabs.Panel value="entries">
          <EntriesTab row={row} />
        </Tabs.Panel>
      </Tabs>
    </>
  )
}
