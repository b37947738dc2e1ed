import { Button, Modal } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ask } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { ConfirmByName } from '../../parts/confirm.tsx'
import { Facts } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import { done, fails } from '../../parts/toast.tsx'
import { Moment } from '../../parts/values.tsx'
import { kindOf } from './rule-fields.ts'
import { RuleForm } from './rule-form.tsx'

/** One rule, and what can be done with it. */
export function RuleSheet({
  id,
  onClose,
  onSecret,
}: {
  id: string
  onClose(): void
  onSecret(secret: string): void
}) {
  const may = useMay()
  const queries = useQueryClient()
  const [isEditing, setEditing] = useState(false)
  const [isDeleting, setDeleting] = useState(false)
  const path = { params: { path: { id } } }
  const rule = useQuery({
    queryKey: ['alert-rules', id],
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/alerts/{id}', { ...path, signal })),
  })
  const test = useMutation({
    mutationFn: () => ask(api.POST('/admin/v1/alerts/{id}/test', path)),
    onSuccess: (result) => done(`The webhook answered: ${JSON.stringify(result)}`),
    onError: (error) => fails('The test message', error),
  })
  const rotate = useMutation({
    mutationFn: () => ask(api.POST('/admin/v1/alerts/{id}/rotate-secret', path)),
    onSuccess: ({ webhook_secret: secret }) => {
      if (secret !== null) onSecret(secret)
    },
    onError: (error) => fails('The new secret', error),
  })
  const one = rule.data
  const mayChange = may('alerts', 'write')
  return (
    <Sheet
      title={one?.name ?? 'Rule'}
      onClose={onClose}
      actions={
        mayChange && one !== undefined ? (
          <>
            <Button variant="default" onClick={() => setEditing(true)}>
              Change the rule
            </Button>
            {one.webhook === null ? null : (
              <>
                <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
                  Send a test message
                </Button>
                <Button variant="default" loading={rotate.isPending} onClick={() => rotate.mutate()}>
                  Make a new secret
                </Button>
              </>
            )}
            <Button variant="default" color="red" onClick={() => setDeleting(true)}>
              Delete the rule
            </Button>
          </>
        ) : undefined
      }
    >
      {rule.error === null ? null : <Problem error={rule.error} onAgain={() => void rule.refetch()} />}
      {one === undefined ? null : (
        <Facts
          facts={[
            ['When', kindOf(one.kind)?.title ?? one.kind],
            ...Object.entries(one.condition)
              .filter(([name]) => name !== 'kind')
              .map(([name, value]) => [name, value === null ? 'each of them' : String(value)] as const),
            ['Watched', one.enabled ? 'yes' : 'no'],
            ['Looked at', <Moment key="at" at={one.evaluated_at} none="not yet" />],
            ['Ends after', `${one.resolve_after_seconds} s without it`],
            ['Tells', one.webhook?.host ?? 'nobody: the console shows it'],
          ]}
        />
      )}
      <Modal opened={isEditing} onClose={() => setEditing(false)} title="Change the rule">
        <RuleForm rule={one} onDone={() => setEditing(false)} />
      </Modal>
      <ConfirmByName
        opened={isDeleting}
        onClose={() => setDeleting(false)}
        verb="Delete the rule"
        name={one?.name ?? ''}
        act={async () => {
          await ask(api.DELETE('/admin/v1/alerts/{id}', path))
          await queries.invalidateQueries({ queryKey: ['alert-rules'] })
          onClose()
        }}
      >
        Nobody is told any more when it holds. Its past episodes stay.
      </ConfirmByName>
    </Sheet>
  )
}
