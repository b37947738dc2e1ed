import { NativeSelect, TextInput, UnstyledButton } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { CheckIcon, SearchIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { Texts } from '../../console-search.ts'
import { count } from '../../format/numbers.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Waiting } from '../../shell/waiting.tsx'
import { site } from '../../site.ts'
import { NoModels } from '../home/home-models.tsx'
import { allModels, type Catalog, catalogQuery, type Model } from './catalog.ts'
import { mainFeatures } from './features.ts'
import { found, readModelSearch } from './model-search.ts'
import { ModelTable } from './model-table.tsx'
import classes from './models.module.css'

/** Which models there are, what they can do and what they cost. What is chosen is in the address. */
export function ModelsPage() {
  useDocumentTitle(`Models · ${site.name}`)
  const { data, error, refetch, isPending } = useQuery(catalogQuery)
  return (
    <div className={classes.page}>
      <h1>Models</h1>
      {isPending ? (
        <Waiting />
      ) : error !== null && data === undefined ? (
        <Problem error={error} doing="Read the models" onAgain={() => void refetch()} />
      ) : data == null || allModels(data).length === 0 ? (
        <NoModels />
      ) : (
        <List catalog={data} />
      )}
    </div>
  )
}

function List({ catalog }: { catalog: Catalog }) {
  const texts = useSearch({ strict: false }) as Texts
  const navigate = useNavigate()
  const search = readModelSearch(texts)
  const models = modelsOf(catalog, search.group)
  const rows = found(models, search)
  const change = (changed: Record<string, string | string[] | undefined>) =>
    void navigate({ to: '.', search: { ...texts, ...changed }, replace: true, resetScroll: false })
  return (
    <>
      <div className={classes.filters}>
        <TextInput
          className={classes.words}
          data-page-search
          type="search"
          aria-label="Search the models"
          placeholder="Search by name"
          leftSection={<SearchIcon size={14} />}
          value={search.words}
          onChange={({ currentTarget: { value } }) => change({ q: value || undefined })}
        />
        {catalog.groups.length > 1 ? (
          <NativeSelect
            aria-label="Group, which decides the prices"
            data={[
              { value: '', label: 'All groups' },
              ...catalog.groups.map(({ name }) => ({ value: name, label: `Group ${name}` })),
            ]}
            value={search.group ?? ''}
            onChange={({ currentTarget: { value } }) => change({ group: value || undefined })}
          />
        ) : null}
        <fieldset className={classes.chips}>
          <legend className="tg-heard">Features that a model must have</legend>
          {mainFeatures
            .filter((feature) => search.features.includes(feature) || models.some((one) => feature.has(one)))
            .map((feature) => {
              const isOn = search.features.includes(feature)
              const others = search.features.filter((one) => one !== feature)
              const wanted = (isOn ? others : [...others, feature]).map(({ id }) => id)
              return (
                <UnstyledButton
                  key={feature.id}
                  className={classes.chip}
                  aria-pressed={isOn}
                  onClick={() => change({ feature: wanted.length === 0 ? undefined : wanted })}
                >
                  {isOn ? <CheckIcon size={12} aria-hidden /> : null}
                  {feature.label}
                </UnstyledButton>
              )
            })}
        </fieldset>
      </div>
      <p className={classes.count} role="status">
        {rows.length === models.length
          ? `${count(models.length)} ${models.length === 1 ? 'model' : 'models'}`
          : `${count(rows.length)} of ${count(models.length)} models`}
        . Prices are in US dollars per million tokens
        {catalog.groups.length > 1 && search.group === undefined
          ? ', of the first group that has the model'
          : ''}
        .
      </p>
      {rows.length === 0 ? (
        <EmptyState
          title="No model fits"
          action={
            <UnstyledButton
              className={classes.chip}
              onClick={() => change({ q: undefined, feature: undefined, group: undefined })}
            >
              Show all models
            </UnstyledButton>
          }
        >
          Each model here lacks a word or a feature that you chose.
        </EmptyState>
      ) : (
        <ModelTable models={rows} search={search} onSort={(sort) => change({ sort })} />
      )}
    </>
  )
}

function modelsOf(catalog: Catalog, group: string | undefined): Model[] {
  return catalog.groups.find(({ name }) => name === group)?.models.slice() ?? allModels(catalog)
}
