import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, ask } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { bytes, count } from '../../format/numbers.ts'
import { Facts, Section } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { done, fails } from '../../parts/toast.tsx'
import { Notice } from '../../parts/tone.tsx'
import { Moment } from '../../parts/values.tsx'
import { Waiting } from '../../shell/waiting.tsx'
import classes from './settings.module.css'

const liveMs = 5_000

/** Which days of the log have moved to Parquet files. */
export function ArchivePart() {
  const may = useMay()
  const queries = useQueryClient()
  const state = useQuery({
    queryKey: ['archive'],
    refetchInterval: liveMs,
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/archive', { params: { query: { limit: 50 } }, signal })),
  })
  const begin = useMutation({
    mutationFn: () => ask(api.POST('/admin/v1/archive')),
    onSuccess: async () => {
      done('A worker begins within a minute')
      await queries.invalidateQueries({ queryKey: ['archive'] })
    },
    onError: (error) => fails('The archive', error),
  })
  if (state.error !== null) return <Problem error={state.error} onAgain={() => void state.refetch()} />
  if (state.data === undefined) return <Waiting />
  const { hot_days, next_pass_at, totals, files } = state.data
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
        <Notice tone="info">
          Nothing is archived: HOT_DAYS is 0. Set it to move older days of the log to Parquet files.
        </Notice>
      ) : (
        <Facts
          facts={[
            ['Days in Postgres', count(hot_days)],
            ['Next pass', <Moment key="next" at={next_pass_at} none="none is planned" />],
          ]}
        />
      )}
      {totals.map(({ table, state: fileState, files: number, rows, bytes: size, first_day, last_day }) => (
        <div key={`${table} ${fileState}`}>
          {table}, {fileState}: {count(number)} files with {count(rows)} rows, {bytes(size)}, {first_day} to{' '}
          {last_day}
        </div>
      ))}
      {files.data.length === 0 ? null : (
        <table className={classes.table}>
          <thead>
            <tr>
              <th>Day</th>
              <th>Table</th>
              <th>State</th>
              <th>Rows</th>
              <th>Size</th>
            </tr>
          </thead>
          <tbody>
            {files.data.map(({ table, day, part, state: fileState, rows, bytes: size, error }) => (
              <tr key={`${table} ${day} ${part}`}>
                <th scope="row">{day}</th>
                <td>{table}</td>
                <td>
                  {fileState}
                  {error === null ? '' : `: ${error}`}
                </td>
                <td>{rows === null ? '–' : count(rows)}</td>
                <td>{size === null ? '–' : bytes(size)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Section>
  )
}
