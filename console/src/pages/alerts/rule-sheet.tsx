import { Button, Modal, Skeleton } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { type Editing, useEditingOf } from '../../api/editing.ts'
import { useMay } from '../../api/session.ts'
import { type IfMatch, ifMatch, isChangedMeanwhile, type Tagged } from '../../api/tagged.ts'
import { useTenantName } from '../../api/tenant-names.ts'
import { duration } from '../../format/numbers.ts'
import { AskFirst } from '../../parts/ask-first.tsx'
import { Code } from '../../parts/code.tsx'
import { Moment } from '../../parts/formatted-values.tsx'
import { Facts } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import { Notice, State } from '../../parts/state.tsx'
import { done, fails } from '../../parts/toast.tsx'
import { type Rule, ruleQuery } from './alerts-query.ts'
import { RuleForm } from './rule-form.tsx'
import { ruleWords, testWords } from './rule-words.ts'
import { formatNames } from './webhook-format.ts'

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
  const path = { path: { id } }
  const rule = useQuery(ruleQuery(id))
  const test = useMutation({
    mutationFn: () => ask(api.POST('/admin/v1/alerts/{id}/test', { params: path })),
  })
  const one = rule.data?.data
  return (
    <Sheet
      title={one?.name ?? 'Rule'}
      onClose={onClose}
      actions={
        rule.data !== undefined && may('alerts', 'write') ? (
          <Actions
            rule={rule.data}
            isTesting={test.isPending}
            onTest={() => test.mutate()}
            onSecret={onSecret}
            onDeleted={onClose}
          />
        ) : undefined
      }
    >
      {rule.error === null ? null : <Problem error={rule.error} onAgain={() => void rule.refetch()} />}
      {rule.isPending ? <Skeleton height={240} radius={6} /> : null}
      {test.error === null ? null : <Problem error={test.error} doing="The test message" />}
      {test.data === undefined ? null : <TestResult result={test.data} />}
      {one === undefined ? null : <RuleFacts rule={one} />}
    </Sheet>
  )
}

/** What the receiver of a test has answered: the status, and the beginning of its body. */
function TestResult({ result }: { result: Schema<'AlertTest'> }) {
  const { delivered, answer } = result
  return (
    <Notice tone={delivered ? 'good' : 'bad'}>
      {testWords(result)}
      {answer === null || answer === '' ? null : <Code text={answer} what="the answer" />}
    </Notice>
  )
}

function RuleFacts({ rule }: { rule: Rule }) {
  const tenantName = useTenantName()
  return (
    <>
      <div>{ruleWords(rule.condition)}.</div>
      <Facts
        facts={[
          [
            'State',
            <State key="state" tone={rule.enabled ? 'good' : 'quiet'}>
              {rule.enabled ? 'watched' : 'turned off'}
            </State>,
          ],
          ['Scope', rule.tenant_id === null ? 'all tenants' : `tenant ${tenantName(rule.tenant_id)}`],
          [
            'Webhook',
            rule.webhook === null
              ? 'none: alerts are shown only here'
              : `${rule.webhook.host} (${formatNames[rule.webhook.format]})`,
          ],
          [
            'Resolves',
            `when its condition has not been true for ${duration(rule.resolve_after_seconds * 1_000)}`,
          ],
          ['Last evaluated', <Moment key="at" at={rule.evaluated_at} none="not yet" />],
          ['Created', <Moment key="made" at={rule.created_at} />],
        ]}
      />
      <Link to="/console/alerts" search={{ tab: 'history', rule_id: rule.id }}>
        Its closed episodes
      </Link>
    </>
  )
}

type Asked = 'change' | 'delete' | 'secret' | 'off' | undefined

function Actions({
  rule: newest,
  isTesting,
  onTest,
  onSecret,
  onDeleted,
}: {
  rule: Tagged<Rule>
  isTesting: boolean
  onTest(): void
  onSecret(secret: string): void
  onDeleted(): void
}) {
  const [asks, setAsks] = useState<Asked>(undefined)
  const { readAgain, turn } = useRuleChanges()
  const editing = useEditingOf(ruleQuery(newest.data.id), newest, asks !== undefined)
  const rule = editing.base
  const turnOn = useMutation({
    mutationFn: () => turn(rule, true, ifMatch(newest.etag)),
    onError: async (error) => {
      fails('Turning on the rule', error)
      if (isChangedMeanwhile(error)) await readAgain()
    },
  })
  return (
    <>
      <Button variant="default" onClick={() => setAsks('change')}>
        Edit rule
      </Button>
      {rule.enabled ? (
        <Button variant="default" onClick={() => setAsks('off')}>
          Turn off
        </Button>
      ) : (
        <Button variant="default" loading={turnOn.isPending} onClick={() => turnOn.mutate()}>
          Turn on
        </Button>
      )}
      {rule.webhook === null ? null : (
        <>
          <Button variant="default" loading={isTesting} onClick={onTest}>
            Send a test
          </Button>
          {/* Slack and Teams check no signature. */}
          {rule.webhook.format === 'tollgate' ? (
            <Button variant="default" onClick={() => setAsks('secret')}>
              Make a new secret
            </Button>
          ) : null}
        </>
      )}
      <Button variant="default" c="var(--tg-bad)" onClick={() => setAsks('delete')}>
        Delete the rule
      </Button>
      <RuleDialogs
        asks={asks}
        onClose={() => setAsks(undefined)}
        editing={editing}
        onSecret={onSecret}
        onDeleted={onDeleted}
      />
    </>
  )
}

function useRuleChanges() {
  const queries = useQueryClient()
  const readAgain = () =>
    Promise.all(
      [['alert-rules'], ['alert-episodes'], ['open-episodes']].map((queryKey) =>
        queries.invalidateQueries({ queryKey }),
      ),
    )
  return {
    readAgain,
    async turn({ id, name }: Rule, enabled: boolean, header: IfMatch) {
      await ask(api.PATCH('/admin/v1/alerts/{id}', { params: { path: { id }, header }, body: { enabled } }))
      done(enabled ? `The rule ${name} is watched` : `The rule ${name} is turned off`)
      await readAgain()
    },
  }
}

/** What is asked before a rule changes. */
function RuleDialogs({
  asks,
  onClose,
  editing,
  onSecret,
  onDeleted,
}: {
  asks: Asked
  onClose(): void
  editing: Editing<Rule>
  onSecret(secret: string): void
  onDeleted(): void
}) {
  const { readAgain, turn } = useRuleChanges()
  const rule = editing.base
  const path = { id: rule.id }
  return (
    <>
      <Modal opened={asks === 'change'} onClose={onClose} title="Edit rule" size="lg">
        <RuleForm
          editing={editing}
          onDone={(secret) => {
            onClose()
            if (secret !== undefined) onSecret(secret)
          }}
        />
      </Modal>
      <AskFirst
        opened={asks === 'off'}
        onClose={onClose}
        verb="Turn off"
        editing={editing}
        act={(header) => turn(rule, false, header)}
      >
        Its open episodes close, and nobody is told about new ones. You can turn it on again.
      </AskFirst>
      <AskFirst
        opened={asks === 'secret'}
        onClose={onClose}
        verb="Make a new secret"
        editing={editing}
        act={async (header) => {
          const { webhook_secret } = await ask(
            api.POST('/admin/v1/alerts/{id}/rotate-secret', { params: { path, header } }),
          )
          if (webhook_secret !== null) onSecret(webhook_secret)
          await readAgain()
        }}
      >
        The new secret is shown once. For 24 hours the messages are signed with the former one too: give the
        new one to {rule.webhook?.host ?? 'the receiver'} by then.
      </AskFirst>
      <AskFirst
        opened={asks === 'delete'}
        onClose={onClose}
        verb="Delete the rule"
        name={rule.name}
        editing={editing}
        act={async (header) => {
          await ask(api.DELETE('/admin/v1/alerts/{id}', { params: { path, header } }))
          done(`The rule ${rule.name} is deleted`)
          onDeleted()
          await readAgain()
        }}
      >
        Its open episodes close, and nobody is told any more when it holds. Its past episodes stay in the
        history.
      </AskFirst>
    </>
  )
}
