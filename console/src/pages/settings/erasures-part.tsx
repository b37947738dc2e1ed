import { Button, Group, Modal, Select, Stack, Switch, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { count } from '../../format/numbers.ts'
import { Section } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { done, fails } from '../../parts/toast.tsx'
import { State } from '../../parts/tone.tsx'
import { Moment } from '../../parts/values.tsx'
import { Waiting } from '../../shell/waiting.tsx'
import classes from './settings.module.css'

const liveMs = 3_000

/** What was removed for a tenant or an end user, and what is being removed now. */
export function ErasuresPart() {
  const may = useMay()
  const queries = useQueryClient()
  const [isOpen, form] = useDisclosure(false)
  const list = useQuery({
    queryKey: ['erasures'],
    refetchInterval: liveMs,
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/erasures', { params: { query: { limit: 50 } }, signal })),
  })
  const cancel = useMutation({
    mutationFn: (id: string) => ask(api.POST('/admin/v1/erasures/{id}/cancel', { params: { path: { id } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['erasures'] }),
    onError: (error) => fails('Stopping the erasure', error),
  })
  if (list.error !== null) return <Problem error={list.error} onAgain={() => void list.refetch()} />
  if (list.data === undefined) return <Waiting />
  return (
    <Section
      title="Erasures"
      actions={
        may('data', 'write') ? (
          <Button variant="default" onClick={form.open}>
            Erase data
          </Button>
        ) : undefined
      }
    >
      {list.data.data.length === 0 ? (
        <span className="tg-quiet">
          None yet. An erasure removes the content or the rows of a tenant, or of one of its end users.
        </span>
      ) : (
        <table className={classes.table}>
          <thead>
            <tr>
              <th>Asked for</th>
              <th>Of</th>
              <th>State</th>
              <th>Gone</th>
              <th />
            </tr>
          </thead>
          <tbody>
            {list.data.data.map((erasure) => (
              <tr key={erasure.id}>
                <th scope="row">
                  <Moment at={erasure.created_at} /> by {erasure.actor}
                </th>
                <td>
                  {erasure.what} of {erasure.end_user === null ? 'tenant' : `${erasure.end_user} of`}{' '}
                  {erasure.tenant_id}
                </td>
                <td>
                  <Progress erasure={erasure} />
                </td>
                <td>
                  {Object.entries(erasure.counts)
                    .map(([place, gone]) => `${place} ${count(Number(gone))}`)
                    .join(', ') || '–'}
                </td>
                <td>
                  {['queued', 'running', 'waiting'].includes(erasure.state) && may('data', 'write') ? (
                    <Button
                      variant="subtle"
                      loading={cancel.isPending}
                      onClick={() => cancel.mutate(erasure.id)}
                    >
                      Stop it
                    </Button>
                  ) : null}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Modal opened={isOpen} onClose={form.close} title="Erase data">
        <EraseForm onDone={form.close} />
      </Modal>
    </Section>
  )
}

function Progress({
  erasure: { state, dry_run, waits_for, error, reached },
}: {
  erasure: Schema<'Erasure'>
}) {
  const tone =
    error !== null ? 'warning' : state === 'succeeded' ? 'good' : state === 'cancelled' ? 'quiet' : 'info'
  return (
    <State tone={tone}>
      {state}
      {dry_run ? ' (it only counts)' : ''}
      {waits_for === null ? '' : `, waits for ${waits_for}`}
      {error === null ? '' : `: ${error}`}
      {reached === null || state === 'succeeded' ? '' : `, reached ${reached}`}
    </State>
  )
}

/** Begins as a count: what is gone does not come back. */
function EraseForm({ onDone }: { onDone(): void }) {
  const queries = useQueryClient()
  const [tenant, setTenant] = useState('')
  const [endUser, setEndUser] = useState('')
  const [what, setWhat] = useState<'content' | 'rows'>('content')
  const [isDry, setDry] = useState(true)
  const [typed, setTyped] = useState('')
  const begin = useMutation({
    mutationFn: () =>
      ask(
        api.POST('/admin/v1/erasures', {
          body: {
            tenant: tenant.trim(),
            what,
            dry_run: isDry,
            ...(endUser.trim() === '' ? {} : { end_user: endUser.trim() }),
          },
        }),
      ),
    onSuccess: async () => {
      done(isDry ? 'It counts' : 'The erasure has begun')
      await queries.invalidateQueries({ queryKey: ['erasures'] })
      onDone()
    },
  })
  const isConfirmed = isDry || typed.trim() === tenant.trim()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isConfirmed) begin.mutate()
  }
  return (
    <form onSubmit={submit}>
      <Stack gap={12}>
        <TextInput
          label="Tenant"
          required
          data-autofocus
          value={tenant}
          onChange={(event) => setTenant(event.currentTarget.value)}
        />
        <TextInput
          label="End user"
          description="Empty: all of the tenant"
          value={endUser}
          onChange={(event) => setEndUser(event.currentTarget.value)}
        />
        <Select
          label="What"
          data={[
            { value: 'content', label: 'Content: bodies, answers, files. Rows and money stay.' },
            { value: 'rows', label: 'Rows: the whole log of them. Money stays.' },
          ]}
          value={what}
          onChange={(value) => setWhat(value === 'rows' ? 'rows' : 'content')}
        />
        <Switch
          label="Only count what would go"
          checked={isDry}
          onChange={(event) => setDry(event.currentTarget.checked)}
        />
        {isDry ? null : (
          <TextInput
            label={`What is erased does not come back. Type ${tenant.trim() || 'the tenant'} to go on`}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
        )}
        {begin.error === null ? null : <Problem error={begin.error} />}
        <Group justify="flex-end">
          <Button
            type="submit"
            color={isDry ? 'accent' : 'red'}
            disabled={!isConfirmed}
            loading={begin.isPending}
          >
            {isDry ? 'Count what would go' : 'Erase it'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
