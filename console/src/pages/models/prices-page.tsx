import { Button, Checkbox, Group, Modal, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { WaitingRows } from '../../parts/list-grid.tsx'
import { Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Notice } from '../../parts/state.tsx'
import { draftOf } from './price-draft.ts'
import { PriceTable } from './price-table.tsx'
import classes from './prices.module.css'
import { type PricedModel, pricedModelsQuery } from './prices-query.ts'
import { type ChangedPrice, usePriceDrafts } from './use-price-drafts.ts'

/** What every model costs, in one table that is saved at once. */
export function PricesPage() {
  const models = useQuery(pricedModelsQuery)
  return (
    <Page
      title="Prices"
      actions={
        <Button component={Link} to="/console/models" variant="default">
          Show all models
        </Button>
      }
    >
      {models.data === undefined ? (
        models.error === null ? (
          <WaitingRows />
        ) : (
          <Problem error={models.error} onAgain={() => void models.refetch()} doing="Reading the prices" />
        )
      ) : models.data.length === 0 ? (
        <EmptyState title="No model yet" action={<Link to="/console/set-up">Go to the set-up</Link>}>
          Add a channel with its models first. Then each of them gets a price here.
        </EmptyState>
      ) : (
        <Prices models={models.data} />
      )}
    </Page>
  )
}

const inForce = ({ price }: PricedModel) => draftOf(price)

function Prices({ models }: { models: readonly PricedModel[] }) {
  const mayChange = useMay()('catalog', 'write')
  const [search, setSearch] = useState('')
  const [isMissing, setMissing] = useState(false)
  const [isReviewed, setReviewed] = useState(false)
  const editor = usePriceDrafts(models, inForce, () => setReviewed(false))
  const { drafts, changed, faults, save } = editor
  const isShown = ({ id, price }: PricedModel) =>
    id.toLowerCase().includes(search.trim().toLowerCase()) && (!isMissing || price === null)
  // A field that is wrong is shown, whatever the search says.
  const shown = models.filter((model) => isShown(model) || faults.has(model.id))
  const missing = models.filter(({ price }) => price === null).length
  const review = () => {
    if (editor.check()) setReviewed(true)
  }
  const saveAll = () => save.mutate(changed, { onError: () => setReviewed(false) })
  return (
    <>
      <div className={classes.bar}>
        <TextInput
          aria-label="Search models"
          placeholder="Search models"
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <Checkbox
          label={`Only those without a price (${missing})`}
          checked={isMissing}
          onChange={(event) => setMissing(event.currentTarget.checked)}
        />
        {mayChange ? (
          <Button variant="default" onClick={editor.fill}>
            Fill empty ones from the library
          </Button>
        ) : (
          <span className="tg-quiet">You may read prices, not change them.</span>
        )}
      </div>
      {save.error === null ? null : <Problem error={save.error} doing="Saving the prices" />}
      {faults.size > 0 ? (
        <Notice tone="bad">
          {faults.size === 1 ? 'One model has' : `${faults.size} models have`} a field to mend. Nothing is
          saved.
        </Notice>
      ) : null}
      {shown.length === 0 ? (
        <p className="tg-quiet">No model fits.</p>
      ) : (
        <fieldset disabled={!mayChange} className={classes.fields}>
          <legend className="tg-heard">Prices of models</legend>
          <PriceTable models={shown} drafts={drafts} faults={faults} onChange={editor.change} />
        </fieldset>
      )}
      {changed.length === 0 ? null : (
        <div className={classes.foot}>
          <span>{changed.length === 1 ? '1 price is changed' : `${changed.length} prices are changed`}</span>
          <Group gap={8}>
            <Button variant="default" onClick={editor.drop}>
              Drop the changes
            </Button>
            <Button onClick={review}>Review the changes</Button>
          </Group>
        </div>
      )}
      <Modal opened={isReviewed} onClose={() => setReviewed(false)} size="lg" title="What changes">
        <Review changed={changed} />
        <Group justify="flex-end" gap={8} mt={16}>
          <Button variant="default" onClick={() => setReviewed(false)}>
            Go on editing
          </Button>
          <Button loading={save.isPending} onClick={saveAll} data-autofocus>
            {changed.length === 1 ? 'Save 1 new price' : `Save ${changed.length} new prices`}
          </Button>
        </Group>
      </Modal>
    </>
  )
}

function Review({ changed }: { changed: readonly ChangedPrice[] }) {
  return (
    <>
      <table className={classes.changes}>
        <thead>
          <tr>
            <th scope="col">Model</th>
            <th scope="col">Part</th>
            <th scope="col">Old → new</th>
          </tr>
        </thead>
        <tbody>
          {changed.flatMap(({ model, draft, changes }) =>
            changes.map(({ title, before, after }, at) => (
              <tr key={`${model.id} ${title}`}>
                <th scope="row">
                  {at === 0 ? model.id : ''}
                  {at === 0 && draft.kind !== 'priced' ? (
                    <div className="tg-quiet">{draft.kind === 'free' ? 'is free' : 'gets no price'}</div>
                  ) : null}
                </th>
                <td>{title}</td>
                <td className="tg-number">
                  {before ?? 'not stated'} → <strong>{after ?? 'not stated'}</strong>
                </td>
              </tr>
            )),
          )}
        </tbody>
      </table>
      <p className="tg-quiet">
        Each model gets a new version of its price. Requests that have begun keep the price before.
      </p>
    </>
  )
}
