import { ActionIcon, Button, Skeleton } from '@mantine/core'
import { DiffRemovedIcon, ListUnorderedIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { api, ask, type Schema } from '../../api/client.ts'
import type { Texts } from '../../console-search.ts'
import { moment } from '../../format/moments.ts'
import { count, short } from '../../format/numbers.ts'
import { Problem } from '../../parts/problem.tsx'
import classes from './log-facets.module.css'
import { filterField, filtersOf, withoutValue, withValue } from './log-filters.ts'
import type { LogTerms } from './log-query.ts'

type Facet = Schema<'LogFacets'>['data'][number]

const valuesShown = 6

export function FacetsButton({ isOpen, onChange }: { isOpen: boolean; onChange(isOpen: boolean): void }) {
  return (
    <Button
      variant="default"
      leftSection={<ListUnorderedIcon size={14} />}
      aria-expanded={isOpen}
      onClick={() => onChange(!isOpen)}
    >
      Top values
    </Button>
  )
}

/**
 * The values that most of the matching requests have, with their number. A click keeps only those, a second
 * one undoes it, and a click with Alt or on the button leaves them out.
 */
export function LogFacets({
  terms: { filters, from, to },
  search,
  onChange,
}: {
  terms: LogTerms
  search: Texts
  onChange(search: Texts): void
}) {
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['log-facets', filters, from, to],
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      ask(
        api.GET('/admin/v1/requests/facets', {
          params: { query: { ...filters, from, to, limit: valuesShown } },
          signal,
        }),
      ),
  })
  if (error !== null) return <Problem error={error} onAgain={() => void refetch()} doing="The values" />
  if (data === undefined) return <Skeleton height={192} radius={6} />
  return (
    <section className={classes.panel} aria-label="Values of the requests that match" aria-busy={isFetching}>
      {data.exact ? null : <div className={`${classes.words} tg-quiet`}>{partOf(data)}</div>}
      {data.data.map((facet) => (
        <FacetList key={facet.filter} facet={facet} search={search} onChange={onChange} />
      ))}
    </section>
  )
}

function partOf({ requests, progress }: Schema<'LogFacets'>): string {
  return progress.done
    ? `Of ${count(requests)} requests. Rare values are counted together.`
    : `Of the newest ${count(requests)} requests, since ${moment(new Date(progress.searched_from))}: the count stopped after its time limit.`
}

function FacetList({
  facet: { filter, values, other },
  search,
  onChange,
}: {
  facet: Facet
  search: Texts
  onChange(search: Texts): void
}) {
  const title = titles[filter] ?? filterField(filter)?.title ?? filter
  const isKept = (value: string) =>
    filtersOf(search).some(({ name, keeps, values }) => name === filter && keeps && values.includes(value))
  return (
    <div className={classes.facet}>
      <h3>{title}</h3>
      <ul>
        {values.map(({ value, name, requests }) => {
          const text = value ?? ''
          const shown = name ?? value ?? 'none'
          const leave = () => onChange(withValue(search, { name: filter, keeps: false }, text))
          return (
            <li key={text} className={classes.value}>
              <button
                type="button"
                className={classes.keep}
                aria-pressed={isKept(text)}
                title={`${shown}: ${count(requests)}. Click: only these. Alt and click: all but these.`}
                onClick={(event) => {
                  if (event.altKey) leave()
                  else if (isKept(text)) onChange(withoutValue(search, filter, text))
                  else onChange(withValue(search, { name: filter, keeps: true }, text))
                }}
              >
                <span className={value === null ? `${classes.name} tg-quiet` : classes.name}>{shown}</span>
                <span className="tg-number">{short(requests)}</span>
              </button>
              <ActionIcon
                size={20}
                className={classes.leave ?? ''}
                aria-label={`Leave out ${title} ${shown}`}
                onClick={leave}
              >
                <DiffRemovedIcon size={12} />
              </ActionIcon>
            </li>
          )
        })}
        {values.length === 0 ? <li className="tg-quiet">–</li> : null}
        {other > 0 ? (
          <li className={classes.value}>
            <span className={`${classes.rest} tg-quiet`}>
              <span className={classes.name}>others</span>
              <span className="tg-number">{short(other)}</span>
            </span>
          </li>
        ) : null}
      </ul>
    </div>
  )
}

/** Its values are shown by name. */
const titles: Readonly<Record<string, string>> = {
  requested_model: 'Model',
  tenant_id: 'Tenant',
  key_id: 'Key',
}
