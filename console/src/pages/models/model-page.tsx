import { forms } from 'virtual:settings'
import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { useMay, useSession } from '../../api/session.ts'
import { ifMatch, isChangedMeanwhile, type Tagged } from '../../api/tagged.ts'
import { AskFirst } from '../../parts/ask-first.tsx'
import { Moment } from '../../parts/formatted-values.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { SettingsFacts, statedTraits } from '../../parts/settings-facts.tsx'
import { State } from '../../parts/state.tsx'
import { done, fails } from '../../parts/toast.tsx'
import { NotThere } from '../access/not-there.tsx'
import { TrafficOverTime } from '../traffic/traffic-over-time.tsx'
import { EditModel, modelGroups } from './edit-model.tsx'
import { ModelOffers } from './model-offers.tsx'
import { ModelPrices } from './model-prices.tsx'
import { modelQuery, useModelEditing } from './model-query.ts'
import { OwnModel } from './own-models.tsx'
import { servedBy } from './served-by.ts'
import { VerdictGrid } from './verdict-grid.tsx'

/** One model: who offers it, what it can do there and how that is known, and its price. */
export function ModelPage() {
  const { id = '' } = useParams({ strict: false })
  return useSession().role === 'member' ? <OwnModel id={id} /> : <AnyModel id={id} />
}

function AnyModel({ id }: { id: string }) {
  const model = useQuery(modelQuery(id))
  if (model.error !== null || model.data === undefined)
    return <NotThere what="Model" query={model} back={<Link to="/console/models">Show all models</Link>} />
  return <Shown key={id} tagged={model.data} />
}

function Shown({ tagged }: { tagged: Tagged<Schema<'AdminModelDetails'>> }) {
  const model = tagged.data
  const may = useMay()
  const [isEditing, setEditing] = useState(false)
  const isFile = model.managed_by === 'file'
  const mayChange = may('catalog', 'write') && !isFile
  const why = isFile
    ? 'gateway.yaml manages this model: change it there.'
    : may('catalog', 'write')
      ? undefined
      : 'You may read models, and not change them.'
  const traffic = useMemo(() => ({ models: [model.id, ...model.aliases] }), [model.id, model.aliases])
  const offers = useQuery({
    queryKey: ['offers', model.id],
    queryFn: ({ signal }) =>
      ask(api.GET('/admin/v1/offers', { params: { query: { model: model.id, limit: 200 } }, signal })),
  })
  return (
    <Page
      title={model.id}
      lead={model.state === 'enabled' ? undefined : <State tone="quiet">{model.state}</State>}
      actions={
        <>
          <Link to="/console/log" search={{ model: model.id }}>
            Its requests
          </Link>
          {mayChange ? (
            <>
              <Button variant="default" onClick={() => setEditing(true)}>
                Edit the model
              </Button>
              <Switches tagged={tagged} />
            </>
          ) : null}
        </>
      }
    >
      <Facts
        facts={[
          ['Served by', servedBy(model.channels) || 'no channel: a request for it is a 404'],
          ['Made', <Moment key="made" at={model.created_at} />],
        ]}
      />
      {model.id === '*' ? null : <TrafficOverTime of={traffic} />}
      <Section title="Settings">
        {why === undefined ? null : <span className="tg-quiet">{why}</span>}
        <SettingsFacts
          groups={[...modelGroups([]), statedTraits(model.traits)]}
          names={forms.model.names}
          of={model}
        />
      </Section>
      <ModelPrices tagged={tagged} why={may('catalog', 'write') ? undefined : why} mayChange={mayChange} />
      {offers.error === null ? null : <Problem error={offers.error} onAgain={() => void offers.refetch()} />}
      {offers.data === undefined ? null : (
        <>
          <ModelOffers model={model.id} offers={offers.data.data} />
          <VerdictGrid model={model.id} offers={offers.data.data} />
        </>
      )}
      {isEditing ? <EditModel of={tagged} onClose={() => setEditing(false)} /> : null}
    </Page>
  )
}

function Switches({ tagged }: { tagged: Tagged<Schema<'AdminModelDetails'>> }) {
  const model = tagged.data
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [isDeleting, setDeleting] = useState(false)
  const deleting = useModelEditing(tagged, isDeleting)
  const path = { params: { path: { id: model.id }, header: ifMatch(tagged.etag) } }
  const turn = useMutation({
    mutationFn: async () => {
      if (model.state === 'enabled') await ask(api.POST('/admin/v1/models/{id}/disable', path))
      else await ask(api.POST('/admin/v1/models/{id}/enable', path))
    },
    onSuccess: async () => {
      done(
        model.state === 'enabled'
          ? 'Clients can no longer ask for the model'
          : 'Clients can ask for the model',
      )
      await queries.invalidateQueries({ queryKey: ['models'] })
    },
    onError: async (error) => {
      fails('The change', error)
      if (isChangedMeanwhile(error)) await queries.invalidateQueries({ queryKey: ['models'] })
    },
  })
  return (
    <>
      <Button variant="default" loading={turn.isPending} onClick={() => turn.mutate()}>
        {model.state === 'enabled' ? 'Disable the model' : 'Enable the model'}
      </Button>
      <Button variant="default" color="red" onClick={() => setDeleting(true)}>
        Delete the model
      </Button>
      <AskFirst
        opened={isDeleting}
        onClose={() => setDeleting(false)}
        verb="Delete the model"
        name={model.id}
        editing={deleting}
        act={async (header) => {
          await ask(api.DELETE('/admin/v1/models/{id}', { params: { path: { id: model.id }, header } }))
          await queries.invalidateQueries({ queryKey: ['models'] })
          await navigate({ to: '/console/models' })
        }}
      >
        Requests for it become a 404. The gateway refuses the deletion while a group, a key or another model
        names it. Its rows stay in the log.
      </AskFirst>
    </>
  )
}
