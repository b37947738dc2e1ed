import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { Tenant } from '../../api/access-queries.ts'
import { api, ask, type Schema } from '../../api/client.ts'
import { type ListPage, type PageAt, useList } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import { bytes } from '../../format/numbers.ts'
import { AskFirst } from '../../parts/ask-first.tsx'
import { Moment } from '../../parts/formatted-values.tsx'
import { Section } from '../../parts/page.tsx'
import { ListRows, type RowsColumn } from '../../parts/rows.tsx'
import { done } from '../../parts/toast.tsx'
import classes from '../access/access.module.css'

/** Answers that clients may continue by their id. */
export function KeptAnswers({ of }: { of: Tenant }) {
  return (
    <KeptContent<Schema<'AdminKeptAnswer'>>
      title="Kept answers"
      one="answer"
      queryKey={['tenants', 'answers', of.id]}
      readPage={(page, signal) =>
        ask(
          api.GET('/admin/v1/tenants/{id}/kept-answers', {
            params: { path: { id: of.id }, query: { limit: 50, ...page } },
            signal,
          }),
        )
      }
      none="No answer is kept. Answers are kept where the key or its group says so."
      columns={[
        { head: 'Made', keeps: true, cell: ({ created_at }) => <Moment at={created_at} /> },
        { head: 'Id', cell: ({ id }) => <span className="tg-mono">{id}</span> },
        { head: 'Model', cell: ({ model }) => model },
      ]}
      remove={({ id }) =>
        ask(
          api.DELETE('/admin/v1/tenants/{id}/kept-answers/{answer}', {
            params: { path: { id: of.id, answer: id } },
          }),
        )
      }
      warning={(answer) => (
        <>
          Clients cannot read or continue <span className="tg-mono">{answer?.id}</span> any more. It cannot be
          undone.
        </>
      )}
    />
  )
}

/** Files that its keys have uploaded. */
export function Files({ of }: { of: Tenant }) {
  return (
    <KeptContent<Schema<'AdminFile'>>
      title="Files"
      one="file"
      queryKey={['tenants', 'files', of.id]}
      readPage={(page, signal) =>
        ask(
          api.GET('/admin/v1/files', { params: { query: { tenant_id: of.id, limit: 50, ...page } }, signal }),
        )
      }
      none="It has no files. Clients upload them with POST /v1/files."
      columns={[
        { head: 'Uploaded', keeps: true, cell: ({ created_at }) => <Moment at={created_at} /> },
        { head: 'Name', cell: ({ filename }) => filename },
        { head: 'Type', cell: ({ media_type }) => media_type },
        {
          head: 'Key',
          cell: ({ key_id }) => (
            <Link className={classes.link} to="/console/keys/$id" params={{ id: key_id }}>
              Open the key
            </Link>
          ),
        },
      ]}
      remove={({ id }) => ask(api.DELETE('/admin/v1/files/{id}', { params: { path: { id } } }))}
      warning={(file) => `Requests that name ${file?.filename} are refused from now on. It cannot be undone.`}
    />
  )
}

type Kept = Pick<Schema<'AdminFile'>, 'id' | 'bytes' | 'expires_at'>

/** A list of what is kept for a while, where each can be deleted. */
function KeptContent<Row extends Kept>({
  title,
  one,
  queryKey,
  readPage,
  none,
  columns,
  remove,
  warning,
}: {
  title: string
  one: 'answer' | 'file'
  queryKey: readonly string[]
  readPage(page: PageAt, signal: AbortSignal): Promise<ListPage<Row>>
  none: string
  /** Those before its size. */
  columns: readonly RowsColumn<Row>[]
  remove(row: Row): Promise<unknown>
  /** What a client notices when it is gone. */
  warning(row: Row | undefined): ReactNode
}) {
  const may = useMay()
  const queryClient = useQueryClient()
  const [chosen, setChosen] = useState<Row>()
  const list = useList<Row>({ queryKey, readPage })
  return (
    <Section title={title}>
      <ListRows
        label={title}
        things={`${one}s`}
        list={list}
        idOf={({ id }) => id}
        none={none}
        columns={[
          ...columns,
          { head: 'Size', align: 'right', cell: (row) => bytes(row.bytes) },
          { head: 'Kept until', keeps: true, cell: ({ expires_at }) => <Moment at={expires_at} /> },
          {
            head: 'Actions',
            align: 'right',
            cell: (row) =>
              may('jobs', 'write') ? (
                <Button variant="subtle" color="red" onClick={() => setChosen(row)}>
                  Delete
                </Button>
              ) : null,
          },
        ]}
      />
      <AskFirst
        opened={chosen !== undefined}
        onClose={() => setChosen(undefined)}
        verb={`Delete ${one}`}
        isBad
        act={async () => {
          if (chosen === undefined) return
          await remove(chosen)
          await queryClient.invalidateQueries({ queryKey })
          done(`The ${one} is deleted`)
        }}
      >
        {warning(chosen)}
      </AskFirst>
    </Section>
  )
}
