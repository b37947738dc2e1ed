import { Button, Modal } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ask } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import { useTenantName } from '../../api/tenant-names.ts'
import { AskFirst } from '../../parts/ask-first.tsx'
import { Moment, None } from '../../parts/formatted-values.tsx'
import { Section } from '../../parts/page.tsx'
import { ListRows, type RowsColumn } from '../../parts/rows.tsx'
import { State } from '../../parts/state.tsx'
import { done } from '../../parts/toast.tsx'
import { EraseForm } from './erase-form.tsx'
import {
  countsWords,
  type Erasure,
  type ErasureRequest,
  erasureState,
  erasureWords,
  isUnderWay,
} from './erasure-words.ts'

/** What was removed for a tenant or an end user, and what is being removed now. */
export function ErasuresPart() {
  const may = useMay()
  const queries = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const [asked, setAsked] = useState<ErasureRequest | undefined>(undefined)
  const [toStop, setToStop] = useState<Erasure | undefined>(undefined)
  const list = useList<Erasure>({
    queryKey: ['erasures'],
    live: (erasures) => (erasures.some(isUnderWay) ? 3_000 : 30_000),
    readPage: (page, signal) =>
      ask(api.GET('/admin/v1/erasures', { params: { query: { limit: 50, ...page } }, signal })),
  })
  const begin = useMutation({
    mutationFn: (body: ErasureRequest) => ask(api.POST('/admin/v1/erasures', { body })),
    onSuccess: async ({ dry_run }) => {
      done(dry_run ? 'It counts what would go' : 'The erasure has begun')
      setAsking(false)
      await queries.invalidateQueries({ queryKey: ['erasures'] })
    },
  })
  const mayErase = may('data', 'write')
  const columns = useColumns(mayErase ? setToStop : undefined)
  const words = asked === undefined ? undefined : erasureWords(asked)
  return (
    <Section
      title="Erasures"
      actions={
        mayErase ? (
          <Button
            variant="default"
            onClick={() => {
              begin.reset()
              setAsking(true)
            }}
          >
            Erase data
          </Button>
        ) : undefined
      }
    >
      <span className="tg-quiet">
        An erasure removes the content or the rows of a tenant, or of one of its end users. It goes on when
        this page is closed.{' '}
        <Link to="/docs/$" params={{ _splat: 'reference/erasure' }}>
          What goes, what stays, and what it cannot reach
        </Link>
      </span>
      <ListRows
        label="Erasures"
        things="erasures"
        list={list}
        columns={columns}
        idOf={({ id }) => id}
        none="Nothing has been erased yet."
      />
      <Modal opened={isAsking} onClose={() => setAsking(false)} title="Erase data">
        <EraseForm
          error={begin.error}
          isBusy={begin.isPending}
          onAsk={(request) => {
            if (request.dry_run === true) begin.mutate(request)
            else {
              setAsking(false)
              setAsked(request)
            }
          }}
        />
      </Modal>
      <AskFirst
        opened={asked !== undefined}
        onClose={() => setAsked(undefined)}
        verb="Erase data"
        name={asked?.tenant ?? ''}
        act={async () => {
          if (asked !== undefined) await begin.mutateAsync(asked)
        }}
      >
        <p>{words?.goes} It does not come back.</p>
        <p>{words?.stays} Backups, upstreams and logs of processes are not reached.</p>
      </AskFirst>
      <AskFirst
        opened={toStop !== undefined}
        onClose={() => setToStop(undefined)}
        verb="Stop the erasure"
        isBad
        act={async () => {
          if (toStop === undefined) return
          await ask(api.POST('/admin/v1/erasures/{id}/cancel', { params: { path: { id: toStop.id } } }))
          done('The erasure is stopped')
          await queries.invalidateQueries({ queryKey: ['erasures'] })
        }}
      >
        What is gone already stays gone. The rest is not removed. To go on later, begin another erasure.
      </AskFirst>
    </Section>
  )
}

function useColumns(onStop: ((erasure: Erasure) => void) | undefined): readonly RowsColumn<Erasure>[] {
  const tenantName = useTenantName()
  return [
    { head: 'Asked for', keeps: true, cell: ({ created_at }) => <Moment at={created_at} /> },
    { head: 'By', cell: ({ actor }) => actor },
    {
      head: 'What',
      cell: ({ what, end_user, end_user_sha256 }) =>
        end_user_sha256 === null ? (
          `${what} of all`
        ) : (
          <span title={`SHA-256 ${end_user_sha256}`}>
            {what} of {end_user ?? `an end user (${end_user_sha256.slice(0, 8)}…)`}
          </span>
        ),
    },
    {
      head: 'Tenant',
      cell: ({ tenant_id }) => (
        <Link to="/console/tenants/$id" params={{ id: tenant_id }}>
          {tenantName(tenant_id)}
        </Link>
      ),
    },
    {
      head: 'State',
      cell: (erasure) => {
        const { tone, words } = erasureState(erasure)
        const { reached } = erasure
        return (
          <>
            <State tone={tone}>{words}</State>
            {reached === null || !isUnderWay(erasure) ? null : (
              <div className="tg-quiet">
                has reached <Moment at={reached} />
              </div>
            )}
          </>
        )
      },
    },
    {
      head: 'Gone',
      cell: ({ counts, dry_run }) => {
        const words = countsWords(counts)
        if (words === undefined) return <None why="Nothing yet" />
        return dry_run ? `would go: ${words}` : words
      },
    },
    ...(onStop === undefined
      ? []
      : [
          {
            head: 'Actions',
            cell: (erasure: Erasure) =>
              isUnderWay(erasure) ? (
                <Button variant="default" size="compact-sm" onClick={() => onStop(erasure)}>
                  Stop it
                </Button>
              ) : null,
          },
        ]),
  ]
}
