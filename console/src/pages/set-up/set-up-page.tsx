import { Skeleton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { MadeKey } from '../../api/access-queries.ts'
import { useMay, useSession } from '../../api/session.ts'
import { Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Notice, State } from '../../parts/state.tsx'
import { GroupForm } from '../groups/group-form.tsx'
import { KeyForm } from '../keys/key-form.tsx'
import { SecretOnce } from '../keys/secret-once.tsx'
import { PriceStep } from '../models/price-step.tsx'
import { TenantForm } from '../tenants/tenant-form.tsx'
import { ChannelStep } from './channel-step.tsx'
import { type Facts, factsQuery } from './facts.ts'
import { RequestStep } from './request-step.tsx'
import classes from './set-up.module.css'
import { offeredModels, type StepState, stepsOf } from './steps.ts'

export function SetUpPage() {
  const isMember = useSession().tenant_id !== null
  const facts = useQuery({ ...factsQuery, enabled: !isMember })
  return (
    <Page title="Set-up" lead="From nothing to a first request and its row. Each step says what is true now.">
      {isMember ? (
        <Notice tone="quiet">The operators of the gateway set it up. Your keys are on the Keys page.</Notice>
      ) : facts.data !== undefined ? (
        <>
          <Steps facts={facts.data} />
          <p>
            <Link to="/console/import">Import from LiteLLM or new-api</Link>
          </p>
        </>
      ) : facts.error !== null ? (
        <Problem error={facts.error} onAgain={() => void facts.refetch()} doing="The state of the set-up" />
      ) : (
        [1, 2, 3, 4, 5, 6, 7, 8].map((step) => <Skeleton key={step} height={56} maw={880} />)
      )}
    </Page>
  )
}

function Steps({ facts }: { facts: Facts }) {
  const may = useMay()
  const session = useSession()
  const queries = useQueryClient()
  const [made, setMade] = useState<MadeKey>()
  const readAgain = () => void queries.invalidateQueries({ queryKey: factsQuery.queryKey })
  const steps = stepsOf(facts)
  return (
    <>
      <HowFar steps={steps} />
      <ol className={classes.steps}>
        <Step title="Owner" state={steps.owner} more={['/console/users', 'Users']}>
          You are signed in as {session.name}, {session.role}.
        </Step>
        <Step
          title="Channel: where requests go"
          state={steps.channel}
          more={['/console/channels', 'Channels']}
          open={
            may('catalog', 'write') ? <ChannelStep channels={facts.channels} onMade={readAgain} /> : undefined
          }
        >
          {steps.channel === 'demo'
            ? 'The demo channel works already: try it first, with the button of step 7. It answers with canned text.'
            : steps.channel === 'done'
              ? names(facts.channels)
              : 'A vendor with your key there, and the models that it shall serve.'}
        </Step>
        <PricesStep facts={facts} state={steps.price} onSaved={readAgain} />
        <Step
          title="Group: what keys may reach"
          state={steps.group}
          more={['/console/groups', 'Groups']}
          open={
            may('keys', 'write') && steps.group === 'open' ? (
              <GroupForm
                isBrief
                preset={{ name: 'default', models: ['*'], channels: ['*'] }}
                onMade={readAgain}
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
              <TenantForm isBrief name="acme" onMade={readAgain} />
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
            may('keys', 'write') ? (
              <KeyStep
                facts={facts}
                made={made}
                onMade={(key) => {
                  setMade(key)
                  readAgain()
                }}
              />
            ) : undefined
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
          open={may('playground', 'write') ? <RequestStep facts={facts} secret={made?.secret} /> : undefined}
        >
          {steps.request === 'done'
            ? 'The gateway has answered requests.'
            : 'With one click, or from your code.'}
        </Step>
        <RowStep row={facts.rows[0]} state={steps.row} />
      </ol>
    </>
  )
}

/** Says when nothing is left to do. */
function HowFar({ steps: { price: _, ...steps } }: { steps: ReturnType<typeof stepsOf> }) {
  // A model can go without a price for good.
  const states = Object.values(steps)
  if (states.every((state) => state === 'done'))
    return (
      <Notice tone="good" action={<Link to="/console">See the overview</Link>}>
        All is set up. The overview says how it goes.
      </Notice>
    )
  if (states.some((state) => state === 'open')) return null
  return (
    <Notice tone="info" action={<Link to="/console">See the overview</Link>}>
      The demo works from end to end. Add a channel of a vendor to reach real models.
    </Notice>
  )
}

function PricesStep({ facts, state, onSaved }: { facts: Facts; state: StepState; onSaved(): void }) {
  const offered = offeredModels(facts)
  return (
    <Step
      title="Prices: what requests cost"
      state={state}
      more={['/console/prices', 'Prices']}
      open={
        useMay()('catalog', 'write') && offered.length > 0 ? (
          <PriceStep ids={offered.map(({ id }) => id)} onSaved={onSaved} />
        ) : undefined
      }
    >
      {priceWords(offered, state)}
    </Step>
  )
}

function priceWords(offered: Facts['models'], state: StepState): string {
  const missing = offered.filter(({ price }) => price === null).length
  if (state === 'demo') return 'The demo costs nothing.'
  if (offered.length === 0)
    return state === 'open'
      ? 'Each model of your channels gets a price here, from the library where it knows one.'
      : 'The channel passes on any name, so no model is listed: add models to give them a price.'
  if (missing === 0)
    return offered.length === 1 ? 'The model has a price.' : `All ${offered.length} models have a price.`
  return `${missing} of ${offered.length} models ${missing === 1 ? 'has' : 'have'} no price. The fields show what the library says; nothing is in force until you save.`
}

function KeyStep({
  facts,
  made,
  onMade,
}: {
  facts: Facts
  made: MadeKey | undefined
  onMade(key: MadeKey): void
}) {
  const payer = facts.tenants[0]?.name
  const group = facts.groups[0]?.name
  if (made !== undefined) return <SecretOnce made={made} />
  if (payer === undefined || group === undefined)
    return <p className={classes.hint}>It needs a group and a tenant: see the steps above.</p>
  return (
    <KeyForm
      isBrief
      name={facts.keys.length === 0 ? 'first' : `key-${facts.keys.length + 1}`}
      payer={payer}
      group={group === 'default' ? '' : group}
      onMade={onMade}
    />
  )
}

function RowStep({ row, state }: { row: Facts['rows'][number] | undefined; state: StepState }) {
  return (
    <Step title="Its row in the log" state={state} more={['/console/log', 'Log']}>
      {row === undefined ? (
        'Each request has one row: what it asked, where it went, what it cost.'
      ) : (
        <Link to={'/console/log/$id' as string} params={{ id: row.id } as never}>
          See the newest row
        </Link>
      )}
    </Step>
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
