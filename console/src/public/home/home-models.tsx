import { Skeleton } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { count } from '../../format/numbers.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Problem } from '../../parts/problem.tsx'
import { site } from '../../site.ts'
import { allModels, byVendor, type Catalog, type Model } from '../models/catalog.ts'
import classes from './home-page.module.css'

/** How many of each vendor; the page of the models has all. */
const most = 6

export function HomeModels({ catalog }: { catalog: UseQueryResult<Catalog | null> }) {
  const { data, error, refetch, isPending } = catalog
  if (isPending) return <WaitingVendors />
  if (error !== null && data === undefined) {
    return <Problem error={error} doing="Read the models" onAgain={() => void refetch()} />
  }
  const models = data ? allModels(data) : []
  if (models.length === 0) return <NoModels />
  return (
    <section aria-label="Models">
      <div className={classes.modelsHead}>
        <h2>Models</h2>
        {site.pages.includes('models') ? (
          <Link to="/models">
            {models.length === 1
              ? 'See its price'
              : `See all ${count(models.length)} models and their prices`}
          </Link>
        ) : null}
      </div>
      <div className={classes.vendors}>
        {byVendor(models).map(([vendor, models]) => (
          <Vendor key={vendor} vendor={vendor} models={models} />
        ))}
      </div>
    </section>
  )
}

function WaitingVendors() {
  return (
    <div className={`${classes.vendors} ${classes.waiting}`} role="status" aria-label="Loading">
      {['one', 'two', 'three', 'four'].map((key) => (
        <Skeleton key={key} height={144} radius={6} />
      ))}
    </div>
  )
}

function Vendor({ vendor, models }: { vendor: string; models: readonly Model[] }) {
  const isShown = site.pages.includes('models')
  const left = models.length - most
  return (
    <div className={classes.vendor}>
      <h3>{vendor}</h3>
      <ul>
        {models.slice(0, most).map(({ id }) => (
          <li key={id}>
            {isShown ? (
              <Link to="/models/$" params={{ _splat: id }}>
                {id}
              </Link>
            ) : (
              id
            )}
          </li>
        ))}
        {left > 0 ? <li className="tg-quiet">and {left} more</li> : null}
      </ul>
    </div>
  )
}

/** No group of the gateway is public, or it has no models. */
export function NoModels() {
  return (
    <EmptyState title="The models here are not public">
      With a key, <code>GET /v1/models</code> lists the models that you may use, and their prices. Operators:
      a group with <code>public: true</code> shows its models here, to everybody.
    </EmptyState>
  )
}
