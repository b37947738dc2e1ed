import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Tenant } from '../../api/access-queries.ts'
import { api, ask, type Schema } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import { bytes } from '../../format/numbers.ts'
import { AskFirst } from '../../parts/ask-first.tsx'
import { Moment } from '../../parts/formatted-values.tsx'
import { Section } from '../../parts/page.tsx'
import { ListRows } from '../../parts/rows.tsx'
import { done } from '../../parts/toast.tsx'
import classes from '../access/access.module.css'

/** Answers that clients may continue by their id. */
export function KeptAnswers({ of }: { of: Tenant }) {
  const may = useMay()
  const queryClient = useQueryClient()
  const [chosen, setChosen] = useState<Schema<'AdminKeptAnswer'>>()
  const queryKey = ['tenants', 'answers', of.id]
  const list = useList<Schema<'AdminKeptAnswer'>>({
    queryKey,
    readPage: (page, signal) =>
      ask(
        api.GET('/admin/v1/tenants/{id}/kept-answers', {
          params: { path: { id: of.id }, query: { limit: 50, ...page } },
          signal,
        }),
      ),
  })
  return (
    <Section title="Kept answers">
      <ListRows
        label="Kept answers"
        things="answers"
        list={list}
        idOf={({ id }) => id}
        none="No answer is kept. Answers are kept where the key or its group says so."
        columns={[
          { head: 'Made', keeps: true, cell: ({ created_at }) => <Moment at={created_at} /> },
          { head: 'Id', cell: ({ id }) => <span className="tg-mono">{id}</span> },
          { head: 'Model', cell: ({ model }) => model },
          { head: 'Size', align: 'right', cell: (answer) => bytes(answer.bytes) },
          { head: 'Kept until', keeps: true, cell: ({ expires_at }) => <Moment at={expires_at} /> },
          {
            head: 'Actions',
            align: 'right',
            cell: (answer) =>
              may('jobs', 'write') ? (
                <Button variant="subtle" color="red" onClick={() => setChosen(answer)}>
                  Delete
                </Button>
              ) : null,
          },
        ]}
      />
      <AskFirst
        opened={chosen !== undefined}
        onClose={() => setChosen(undefined)}
        verb="Delete answer"
        isBad
        act={async () => {
          if (chosen === undefined) return
          await ask(
            api.DELETE('/admin/v1/tenants/{id}/kept-answers/{answer}', {
              params: { path: { id: of.id, answer: chosen.id } },
            }),
          )
          await queryClient.invalidateQueries({ queryKey })
          done('The answer is deleted')
        }}
      >
        Clients cannot read or continue <span className="tg-mono">{chosen?.id}</span> any more. It cannot be
        undone.
      </AskFirst>
    </Section>
  )
}

/** Files that its keys have uploaded. */
export function Files({ of }: { of: Tenant }) {
  const may = useMay()
  const queryClient = useQueryClient()
  const [chosen, setChosen] = useState<Schema<'AdminFile'>>()
  const queryKey = ['tenants', 'files', of.id]
  const list = useList<Schema<'AdminFile'>>({
    queryKey,
    readPage: (page, signal) =>
      ask(
        api.GET('/admin/v1/files', { params: { query: { tenant_id: of.id, limit: 50, ...page } }, signal }),
      ),
  })
  return (
    <Section title="Files">
      <ListRows
        label="Files"
        things="files"
        list={list}
        idOf={({ id }) => id}
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
          { head: 'Size', align: 'right', cell: (file) => bytes(file.bytes) },
          { head: 'Kept until', keeps: true, cell: ({ expires_at }) => <Moment at={expires_at} /> },
          {
            head: 'Actions',
            align: 'right',
            cell: (file) =>
              may('jobs', 'write') ? (
                <Button variant="subtle" color="red" onClick={() => setChosen(file)}>
                  Delete
                </Button>
              ) : null,
          },
        ]}
      />
      <AskFirst
        opened={chosen !== undefined}
        onClose={() => setChosen(undefined)}
        verb="Delete file"
        isBad
        act={async () => {
          if (chosen === undefined) return
          await ask(api.DELETE('/admin/v1/files/{id}', { params: { path: { id: chosen.id } } }))
          await queryClient.invalidateQueries({ queryKey })
          done('The file is deleted')
        }}
      >
        Requests that name {chosen?.filename} are refused from now on. It cannot be undone.
      </AskFirst>
    </Section>
  )
}
