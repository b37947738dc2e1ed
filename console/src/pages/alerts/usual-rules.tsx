import { Button, Checkbox, Modal, Skeleton } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, api, ask } from '../../api/client.ts'
import { ChangeForm } from '../../parts/change-form.tsx'
import { Problem } from '../../parts/problem.tsx'
import { done } from '../../parts/toast.tsx'
import classes from './alerts.module.css'
import { ruleWords } from './rule-words.ts'
import { WebhookAddress } from './webhook-fields.tsx'
import { type Format, urlFault } from './webhook-format.ts'

/** Reviews the rules that most operators want, and creates those that are chosen in one act. */
export function UsualRules({
  opened,
  onClose,
  onDone,
}: {
  opened: boolean
  onClose(): void
  /** The rules are there. It gets the secret of their webhook, if it checks signatures. */
  onDone(secret: string | undefined): void
}) {
  return (
    <Modal opened={opened} onClose={onClose} title="Watch the usual" size="lg">
      <UsualForm onDone={onDone} />
    </Modal>
  )
}

function UsualForm({ onDone }: { onDone(secret: string | undefined): void }) {
  const queries = useQueryClient()
  const usual = useQuery({
    queryKey: ['alert-rules', 'usual'],
    gcTime: 0,
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/alerts/usual', { signal })),
  })
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const [webhook, setWebhook] = useState<{ url: string; format: Format }>({ url: '', format: 'tollgate' })
  const [isTried, setTried] = useState(false)
  const rules = usual.data?.data ?? []
  const chosen = rules.filter(({ id, existing }) => existing === null && !left.has(id)).map(({ id }) => id)
  const save = useMutation({
    mutationFn: () =>
      ask(
        api.POST('/admin/v1/alerts/usual', {
          body: {
            rules: chosen,
            webhook: webhook.url.trim() === '' ? null : { ...webhook, url: webhook.url.trim() },
          },
        }),
      ),
    onSuccess: async ({ data, webhook_secret }) => {
      done(`${rulesOf(data.length)} created`)
      await queries.invalidateQueries({ queryKey: ['alert-rules'] })
      onDone(webhook.format === 'tollgate' ? (webhook_secret ?? undefined) : undefined)
    },
  })
  const refused = save.error instanceof ApiError ? save.error.fields : []
  const urlError =
    (isTried ? urlFault(webhook.url) : undefined) ??
    refused.find(({ pointer }) => pointer === '#/webhook/url')?.detail
  if (usual.error !== null) return <Problem error={usual.error} onAgain={() => void usual.refetch()} />
  if (usual.isPending) return <Skeleton height={320} radius={6} />
  if (rules.every(({ existing }) => existing !== null))
    return <p>All of the usual rules exist already. You find them under Rules.</p>
  return (
    <ChangeForm
      save={save}
      send={save.mutate}
      editing={undefined}
      verb={`Create ${rulesOf(chosen.length)}`}
      hidesProblem={urlError !== undefined}
      disabled={chosen.length === 0}
      check={() => {
        setTried(true)
        return urlFault(webhook.url) === undefined
      }}
    >
      <div className="tg-quiet">Rules that most gateways want. Each can be changed later.</div>
      <ul className={classes.usual} aria-label="Usual rules">
        {rules.map(({ id, name, condition, existing }) => (
          <li key={id}>
            <Checkbox
              label={name}
              description={
                existing === null
                  ? ruleWords(condition)
                  : `Exists already: ${existing.name}${existing.enabled ? '' : ', turned off'}`
              }
              disabled={existing !== null}
              checked={existing !== null || !left.has(id)}
              onChange={(event) => {
                const next = new Set(left)
                if (event.currentTarget.checked) next.delete(id)
                else next.add(id)
                setLeft(next)
              }}
            />
          </li>
        ))}
      </ul>
      <WebhookAddress {...webhook} error={urlError} onChange={setWebhook} />
    </ChangeForm>
  )
}

function rulesOf(count: number): string {
  return count === 1 ? '1 rule' : `${count} rules`
}

/** The button that opens the review. */
export function WatchUsual({ isFirst = false, onClick }: { isFirst?: boolean; onClick(): void }) {
  return (
    <Button variant={isFirst ? 'filled' : 'default'} onClick={onClick}>
      Watch the usual
    </Button>
  )
}
