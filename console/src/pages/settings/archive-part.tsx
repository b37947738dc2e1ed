import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, ask, type Schema } from '../../api/client.ts'
import { type ListPage, useList } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import { bytes, count } from '../../format/numbers.ts'
import { Moment, None } from '../../parts/formatted-values.tsx'
import { Facts, Section } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { ListRows, Rows, type RowsColumn } from '../../parts/rows.tsx'
import { Notice, State } from '../../parts/state.tsx'
import { done, fails } from '../../parts/toast.tsx'
import type { Tone } from '../../parts/tone.ts'
import { Waiting } from '../../shell/waiting.tsx'

type Archive = Schema<'ArchiveState'>
type File = Schema<'ArchiveFile'>
type Total = Archive['totals'][number]

interface ArchivePage extends ListPage<File> {
  state: Archive
}

/** The states of a file, as docs/reference/archive.md has them, in words. */
const states: Readonly<Record<File['state'], { words: string; tone: Tone }>> = {
  writing: { words: 'is being written', tone: 'info' },
  verified: { words: 'whole, and Postgres has its rows still', tone: 'info' },
  dropped: { words: 'archived: only the file has its rows', tone: 'good' },
  abandoned: { words: 'given up, and written anew', tone: 'warning' },
}

function number(value: number | null) {
  return value === null ? <None /> : count(value)
}

function size(value: number | null) {
  return value === null ? <None /> : bytes(value)
}

const totalColumns: readonly RowsColumn<Total>[] = [
  { head: 'Table', cell: ({ table }) => <span className="tg-mono">{table}</span> },
  { head: 'State', cell: ({ state }) => <State tone={states[state].tone}>{states[state].words}</State> },
  { head: 'Days', keeps: true, cell: ({ first_day, last_day }) => `${first_day} to ${last_day}` },
  { head: 'Files', align: 'right', cell: ({ files }) => count(files) },
  { head: 'Rows', align: 'right', cell: ({ rows }) => count(rows) },
  { head: 'Size', align: 'right', cell: (total) => bytes(total.bytes) },
]

const fileColumns: readonly RowsColumn<File>[] = [
  { head: 'Day', keeps: true, cell: ({ day }) => day },
  { head: 'Table', cell: ({ table }) => <span className="tg-mono">{table}</span> },
  {
    head: 'State',
    cell: ({ state, error }) => (
      <>
        <State tone={states[state].tone}>{states[state].words}</State>
        {error === null ? null : <div className="tg-quiet">{error}</div>}
      </>
    ),
  },
  { head: 'Rows', align: 'right', cell: ({ rows }) => number(rows) },
  { head: 'Size', align: 'right', cell: (file) => size(file.bytes) },
]

/** Which days of the log have moved to Parquet files. */
export function ArchivePart() {
  const may = useMay()
  const queries = useQueryClient()
  const list = useList<File, ArchivePage>({
    queryKey: ['archive'],
    live: (files) =>
      files.some(({ state }) => state === 'writing' || state === 'verified') ? 3_000 : 15_000,
    readPage: async (page, signal) => {
      const state = await ask(
        api.GET('/admin/v1/archive', { params: { query: { limit: 50, ...page } }, signal }),
      )
      return { ...state.files, state }
    },
  })
  const begin = useMutation({
    mutationFn: () => ask(api.POST('/admin/v1/archive')),
    onSuccess: async () => {
      done('A worker begins within a minute')
      await queries.invalidateQueries({ queryKey: ['archive'] })
    },
    onError: (error) => fails('Archiving', error),
  })
  const state = list.pages[0]?.state
  if (state === undefined) {
    return list.error === null ? <Waiting /> : <Problem error={list.error} onAgain={list.again} />
  }
  const { hot_days, next_pass_at, totals } = state
  return (
    <Section
      title="Archive"
      actions={
        may('data', 'write') && hot_days > 0 ? (
          <Button variant="default" loading={begin.isPending} onClick={() => begin.mutate()}>
            Archive now
          </Button>
        ) : undefined
      }
    >
      {hot_days === 0 ? (
        <Notice
          tone="info"
          action={
            <Link to="/docs/$" params={{ _splat: 'reference/archive' }}>
              How the archive works
            </Link>
          }
        >
          Nothing is archived, because <span className="tg-mono">HOT_DAYS</span> is not set. Set it, and older
          days of the log move to Parquet files.
        </Notice>
      ) : (
        <Facts
          facts={[
            ['Stay in Postgres', `today, and the ${count(hot_days)} days before it`],
            ['Next pass', <Moment key="next" at={next_pass_at} none="within the hour: none has run yet" />],
          ]}
        />
      )}
      {totals.length === 0 && hot_days === 0 ? null : (
        <>
          <Rows
            label="Sums"
            columns={totalColumns}
            rows={totals}
            idOf={({ table, state: of }) => `${table} ${of}`}
            none="No day is old enough yet."
          />
          <ListRows
            label="Files"
            things="files"
            list={list}
            columns={fileColumns}
            idOf={({ table, day, part }) => `${table} ${day} ${part}`}
            none="There is no file yet."
          />
        </>
      )}
    </Section>
  )
}
