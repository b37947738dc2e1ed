import { Select, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { api, ask } from '../../api/client.ts'
import { useMay, useSession } from '../../api/session.ts'
import { Code } from '../../parts/code.tsx'
import { Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Notice, State } from '../../parts/tone.tsx'
import { ChannelStep } from './channel-step.tsx'
import { type Facts, factsQuery } from './facts.ts'
import { RequestStep } from './request-step.tsx'
import classes from './set-up.module.css'
import { SmallForm } from './small-form.tsx'
import { type StepState, stepsOf } from './steps.ts'

export function SetUpPage() {
  const isMember = useSession().tenant_id !== null
  const facts = useQuery({ ...factsQuery, enabled: !isMember })
  return (
    <Page title="Set-up" lead="From nothing to a first request and its row. Each step says what is true now.">
      {isMember ? (
        <Notice tone="quiet">The operators of the gateway set it up. Your keys stand under Keys.</Notice>
      ) : facts.data !== undefined ? (
        <Steps facts={facts.data} />
      ) : facts.error !== null ? (
        <Problem error={facts.error} onAgain={() => void facts.refetch()} doing="The state of the set-up" />
      ) : (
        [1, 2, 3, 4, 5, 6, 7].map((step) => <Skeleton key={step} height={56} maw={880} />)
      )}
    </Page>
  )
}

function Steps({ facts }: { facts: Facts }) {
  const may = useMay()
  const session = useSession()
  const [secret, setSecret] = useState<string>()
  const steps = stepsOf(facts)
  const isAll = Object.values(steps).every((state) => state === 'done')
  const works = Object.values(steps).every((state) => state !== 'open')
  const [row] = facts.rows
  return (
    <>
      {isAll ? (
        <Notice tone="good" action={<Link to="/console">See the overview</Link>}>
          All is set up. The overview says how it goes.
        </Notice>
      ) : works ? (
        <Notice tone="info" action={<Link to="/console">See the overview</Link>}>
          The demo works from end to end. Add a channel of a vendor to reach real models.
        </Notice>
      ) : null}
      <ol className={classes.steps}>
        <Step title="Owner" state={steps.owner} more={['/console/users', 'Users']}>
          You are signed in as {session.name}, {session.role}.
        </Step>
        <Step
          title="Channel: where requests go"
          state={steps.channel}
          more={['/console/channels', 'Channels']}
          open={
            may('catalog', 'write') ? (
              <ChannelStep channels={facts.channels} models={facts.models} />
            ) : undefined
          }
        >
          {steps.channel === 'demo'
            ? 'The demo channel works already: try it first, with the button of step 6. It answers with canned text.'
            : steps.channel === 'done'
              ? names(facts.channels)
              : 'A vendor with your key there, and the models that it shall serve.'}
        </Step>
        <Step
          title="Group: what keys may reach"
          state={steps.group}
          more={['/console/groups', 'Groups']}
          open={
            may('keys', 'write') && steps.group === 'open' ? (
              <SmallForm
                what="group"
                suggestion="default"
                make={(name) =>
                  ask(
                    api.POST('/admin/v1/groups', { body: { name, models: ['*'], channels: ['*'] } as never }),
                  )
                }
              />
            ) : undefined
          }
        >
          {steps.group === 'done' ? names(facts.groups) : 'With all models and channels, until you say less.'}
        </Step>
        <Step
          title="Tenant: who owns keys and money"
          state={steps.tenant}
          more={['/console/tenants', 'Tenants']}
          open={
            may('tenants', 'write') && steps.tenant === 'open' ? (
              <SmallForm
                what="tenant"
                suggestion="acme"
                make={(name) => ask(api.POST('/admin/v1/tenants', { body: { name } as never }))}
              />
            ) : undefined
          }
        >
          {steps.tenant === 'done' ? names(facts.tenants) : 'A customer, a team or a project.'}
        </Step>
        <Step
          title="Key: what clients call with"
          state={steps.key}
          more={['/console/keys', 'Keys']}
          open={
            may('keys', 'write') ? <KeyStep facts={facts} secret={secret} onMade={setSecret} /> : undefined
          }
        >
          {steps.key === 'done'
            ? `${facts.keys
                .map(({ tenant, name }) => `${tenant} / ${name}`)
                .slice(0, 3)
                .join(', ')}. The secret of a key is shown once; make another key to see one.`
            : 'A key belongs to a tenant and a group.'}
        </Step>
        <Step
          title="First request"
          state={steps.request}
          more={['/console/playground', 'Playground']}
          open={may('playground', 'write') ? <RequestStep facts={facts} secret={secret} /> : undefined}
        >
          {steps.request === 'done'
            ? 'The gateway has answered requests.'
            : 'With one click, or from your code.'}
        </Step>
        <Step title="Its row in the log" state={steps.row} more={['/console/log', 'Log']}>
          {row === undefined ? (
            'Each request has one row: what it asked, where it went, what it cost.'
          ) : (
            <Link to={'/console/log/$id' as string} params={{ id: row.id } as never}>
              See the newest row
            </Link>
          )}
        </Step>
      </ol>
    </>
  )
}

function KeyStep({
  facts,
  secret,
  onMade,
}: {
  facts: Facts
  secret: string | undefined
  onMade(secret: string): void
}) {
  const [tenant, setTenant] = useState<string | null>(null)
  const [group, setGroup] = useState<string | null>(null)
  const owner = tenant ?? facts.tenants[0]?.name
  const kind = group ?? facts.groups[0]?.name
  if (secret !== undefined)
    return (
      <div className={classes.done}>
        <Notice tone="warning">
          This secret is shown only now. Copy it before you leave the page; the code below has it too.
        </Notice>
        <Code text={secret} what="the secret" />
      </div>
    )
  if (owner === undefined || kind === undefined)
    return <p className={classes.hint}>It needs a group and a tenant: see the steps above.</p>
  return (
    <SmallForm
      what="key"
      suggestion={facts.keys.length === 0 ? 'first' : `key-${facts.keys.length + 1}`}
      make={async (name) => {
        const made = await ask(
          api.POST('/admin/v1/keys', { body: { name, tenant: owner, group: kind } as never }),
        )
        onMade(made.secret)
      }}
    >
      <Select
        label="Tenant"
        data={facts.tenants.map(({ name }) => name)}
        value={owner}
        onChange={setTenant}
      />
      <Select label="Group" data={facts.groups.map(({ name }) => name)} value={kind} onChange={setGroup} />
    </SmallForm>
  )
}

function Step({
  title,
  state,
  more: [to, place],
  children,
  open,
}: {
  title: string
  state: StepState
  more: readonly [to: string, place: string]
  children: ReactNode
  /** What can be done here. */
  open?: ReactNode
}) {
  return (
    <li className={classes.step}>
      <div className={classes.head}>
        <h2>{title}</h2>
        <State tone={state === 'done' ? 'good' : state === 'demo' ? 'info' : 'quiet'}>
          {state === 'done' ? 'done' : state === 'demo' ? 'works by the demo' : 'to do'}
        </State>
        <Link to={to} className={classes.more}>
          {place}
        </Link>
      </div>
      <div className={classes.words}>{children}</div>
      {open}
    </li>
  )
}

function names(things: readonly { name: string }[]): string {
  const first = things.slice(0, 5).map(({ name }) => name)
  return things.length > 5 ? `${first.join(', ')} and others` : first.join(', ')
}
