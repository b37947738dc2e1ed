import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Problem } from '../../parts/problem.tsx'
import { Notice } from '../../parts/state.tsx'
import { Waiting } from '../../shell/waiting.tsx'
import { draftOf } from './price-draft.ts'
import { PriceTable } from './price-table.tsx'
import classes from './prices.module.css'
import { type PricedModel, pricedModelsQuery } from './prices-query.ts'
import { usePriceDrafts } from './use-price-drafts.ts'

/** The prices of the models that the channels offer, with the library's where a model has none. */
export function PriceStep({ ids, onSaved }: { ids: readonly string[]; onSaved(): void }) {
  const models = useQuery(pricedModelsQuery)
  if (models.data === undefined)
    return models.error === null ? (
      <Waiting rows={ids.length} />
    ) : (
      <Problem error={models.error} onAgain={() => void models.refetch()} doing="Reading the prices" />
    )
  const chosen = models.data.filter(({ id }) => ids.includes(id))
  // Models that are new start with what is suggested for them.
  return <Prices key={chosen.map(({ id }) => id).join(' ')} models={chosen} onSaved={onSaved} />
}

const suggested = ({ price, suggestion }: PricedModel) => draftOf(price ?? suggestion?.price)

function Prices({ models, onSaved }: { models: readonly PricedModel[]; onSaved(): void }) {
  const missing = models.filter(({ price }) => price === null)
  const [isOpen, setOpen] = useState(missing.length > 0)
  const editor = usePriceDrafts(models, suggested, () => {
    setOpen(false)
    onSaved()
  })
  const { changed, drafts, faults, save } = editor
  const unknown = models.filter(
    ({ id, suggestion }) => suggestion === null && drafts.get(id)?.kind === 'none',
  )
  if (!isOpen)
    return (
      <div className={classes.bar}>
        <Button variant="default" onClick={() => setOpen(true)}>
          Change prices
        </Button>
        <Link to="/console/prices">All prices</Link>
      </div>
    )
  return (
    <>
      {unknown.length === 0 ? null : (
        <Notice tone="info">
          {unknown.length === 1
            ? `The library knows no price under the name ${unknown[0]?.id}.`
            : `The library knows no price under ${unknown.length} of these names.`}{' '}
          Write one, or choose “Free”. Without a price the cost stays unknown, and a tenant with a balance or
          a budget is refused.
        </Notice>
      )}
      <PriceTable models={models} drafts={drafts} faults={faults} onChange={editor.change} />
      {save.error === null ? null : <Problem error={save.error} doing="Saving the prices" />}
      <div className={classes.bar}>
        <Button
          loading={save.isPending}
          disabled={changed.length === 0}
          onClick={() => {
            if (editor.check()) save.mutate(changed)
          }}
        >
          {changed.length === 1 ? 'Save 1 price' : `Save ${changed.length} prices`}
        </Button>
        <Button variant="default" onClick={() => setOpen(false)}>
          {missing.length === 0 ? 'Cancel' : 'Not now'}
        </Button>
      </div>
    </>
  )
}
