import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { type GroupRow, groupQuery, type Key } from '../../api/access-queries.ts'
import { api, ask } from '../../api/client.ts'
import { useEditingOf } from '../../api/editing.ts'
import { useList } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import type { Tagged } from '../../api/tagged.ts'
import { AskFirst } from '../../parts/ask-first.tsx'
import { Copy } from '../../parts/copy.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { ListRows } from '../../parts/rows.tsx'
import { State } from '../../parts/state.tsx'
import { done } from '../../parts/toast.tsx'
import classes from '../access/access.module.css'
import { budgetInWords, counted, limitsInWords } from '../access/access-words.ts'
import { ManagedByFile } from '../access/managed-by-file.tsx'
import { NotThere } from '../access/not-there.tsx'
import { SpendByModel } from '../access/spend-by-model.tsx'
import { KeyName, KeyState } from '../keys/key-cells.tsx'
import { MakeKey } from '../keys/make-key.tsx'
import { EditGroup } from './group-form.tsx'
import { listed } from './groups-page.tsx'

/** One group: its settings, its keys, and what they spent. */
export function GroupPage() {
  const { id = '' } = useParams({ strict: false })
  const query = useQuery(groupQuery(id))
  if (query.data === undefined)
    return <NotThere what="Group" query={query} back={<Link to="/console/groups">Show all groups</Link>} />
  return <GroupView tagged={query.data} />
}

function GroupView({ tagged }: { tagged: Tagged<GroupRow> }) {
  const of = tagged.data
  const may = useMay()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [dialog, setDialog] = useState<'edit' | 'delete' | 'key'>()
  const close = () => setDialog(undefined)
  const deleting = useEditingOf(groupQuery(of.id), tagged, dialog === 'delete')
  const isFile = of.managed_by === 'file'
  const list = useList<Key>({
    queryKey: ['keys', 'of group', of.id],
    readPage: (page, signal) =>
      ask(api.GET('/admin/v1/keys', { params: { query: { group: of.id, limit: 50, ...page } }, signal })),
  })
  return (
    <Page
      title={of.name}
      lead={of.public ? <State tone="info">public</State> : undefined}
      actions={
        may('keys', 'write') && !isFile ? (
          <>
            <Button variant="default" onClick={() => setDialog('edit')}>
              Edit group
            </Button>
            <Button color="var(--tg-bad)" variant="outline" onClick={() => setDialog('delete')}>
              Delete group
            </Button>
          </>
        ) : undefined
      }
    >
      {isFile ? <ManagedByFile what="group" name={of.name} /> : null}
      {of.description === null ? null : <p className="tg-quiet">{of.description}</p>}
      <Section title="Settings">
        <GroupFacts of={of} />
      </Section>
      <Section
        title="Keys"
        actions={
          may('keys', 'write') ? <Button onClick={() => setDialog('key')}>Make key</Button> : undefined
        }
      >
        <ListRows
          label="Keys of the group"
          things="keys"
          list={list}
          idOf={({ id }) => id}
          none="No key is in this group."
          columns={[
            { head: 'Name', cell: (key) => <KeyName of={key} /> },
            { head: 'Tenant', cell: ({ tenant }) => tenant },
            { head: 'State', keeps: true, cell: (key) => <KeyState of={key} /> },
          ]}
        />
      </Section>
      <SpendByModel of={{ group: of.id }} filter={{ group_id: of.id }} />
      {dialog === 'edit' ? <EditGroup of={tagged} opened onClose={close} /> : null}
      <MakeKey opened={dialog === 'key'} onClose={close} group={of.name} />
      <AskFirst
        opened={dialog === 'delete'}
        onClose={close}
        verb="Delete group"
        name={of.name}
        editing={deleting}
        act={async (header) => {
          await ask(api.DELETE('/admin/v1/groups/{id}', { params: { path: { id: of.id }, header } }))
          await navigate({ to: '/console/groups' })
          void queryClient.invalidateQueries({ queryKey: ['groups'] })
          done(`Group ${of.name} is deleted`)
        }}
      >
        {list.rows.length === 0
          ? 'No key is in it. Its settings are gone after that.'
          : `${counted(list.rows.length, 'key')}${list.isWhole ? '' : ' or more'} of it must move to another group first, revoked ones too: the gateway refuses to delete it before.`}
      </AskFirst>
    </Page>
  )
}

function GroupFacts({ of }: { of: GroupRow }) {
  return (
    <div className={classes.columns}>
      <Facts
        facts={[
          ['Models', listed(of.models)],
          ['Channels', listed(of.channels)],
          ['Prices', `times ${of.price_multiplier}`],
          ['Limits of each key', limitsInWords(of.limits) ?? 'unbounded'],
          ['Limits of all keys', limitsInWords(of.total_limits) ?? 'unbounded'],
          ['Budget', budgetInWords(of.budget) ?? 'none'],
        ]}
      />
      <Facts
        facts={[
          ['Answers in the log', of.capture_answers ? 'kept' : 'not kept'],
          [
            'Answers for later',
            of.responses.store ? `kept for ${counted(of.responses.days ?? 30, 'day')}` : 'not kept',
          ],
          [
            'When a client leaves',
            of.client_gone.policy === 'drain' ? `reads on for ${of.client_gone.seconds} s` : 'ends the call',
          ],
          [
            'When it leaves before the answer',
            of.client_gone.unseen === 'hold' ? 'money is held first' : 'an estimate is charged',
          ],
          ['Priority of images', of.image_priority],
          ['Managed by', of.managed_by === 'file' ? 'gateway.yaml' : 'admins'],
          [
            'Id',
            <span key="id" className="tg-mono">
              {of.id} <Copy text={of.id} what="the id" />
            </span>,
          ],
        ]}
      />
    </div>
  )
}
