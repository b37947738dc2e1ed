import { useDocumentTitle } from '@mantine/hooks'
import { ArrowLeftIcon, CheckIcon, XIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { day, inUtc } from '../../format/moments.ts'
import { Copy } from '../../parts/copy.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { None, Tokens } from '../../parts/formatted-values.tsx'
import { Facts, Section } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Waiting } from '../../shell/waiting.tsx'
import { site } from '../../site.ts'
import { SnippetTabs } from '../snippet-tabs.tsx'
import { catalogQuery, findModel, type Model, otherVendor, vendorOf } from './catalog.ts'
import { features } from './features.ts'
import { snippetsOf } from './model-snippets.ts'
import classes from './models.module.css'
import { PriceTable } from './price-table.tsx'

/** What a model can do, what it costs, and how to ask it. */
export function ModelPage() {
  const { _splat: id = '' } = useParams({ strict: false })
  const { data, error, refetch, isPending } = useQuery(catalogQuery)
  const offers = data ? findModel(data, id) : []
  const [first] = offers
  const isMissing = data !== undefined && first === undefined
  useDocumentTitle(`${isMissing ? 'No such model' : id} · ${site.name}`)
  return (
    <div className={classes.page}>
      <Link to="/models" className={classes.back}>
        <ArrowLeftIcon size={14} aria-hidden /> All models
      </Link>
      {isPending ? (
        <Waiting />
      ) : error !== null && data === undefined ? (
        <Problem error={error} doing="Read the models" onAgain={() => void refetch()} />
      ) : first === undefined ? (
        <EmptyState title="There is no such public model">
          No public group has a model <code>{id}</code>. With a key, <code>GET /v1/models</code> lists the
          models that you may use.
        </EmptyState>
      ) : (
        <Shown model={first.model} offers={offers} />
      )}
    </div>
  )
}

function Shown({ model, offers }: { model: Model; offers: { group: string; model: Model }[] }) {
  const vendor = vendorOf(model.id)
  return (
    <>
      <header className={classes.head}>
        <h1>{model.id}</h1>
        <Copy text={model.id} what="the model’s id" />
        {vendor === otherVendor ? null : <span className="tg-quiet">{vendor}</span>}
      </header>
      <ModelView model={model} offers={offers} />
    </>
  )
}

/** What it is, how to ask it, and its price for each of the groups. */
export function ModelView({ model, offers }: { model: Model; offers: { group: string; model: Model }[] }) {
  const snippets = snippetsOf(model)
  return (
    <>
      <div className={classes.columns}>
        <div className={classes.column}>
          <Section title="What it is">
            <Facts facts={factsOf(model, offers)} />
          </Section>
          <Section title="Features">
            <Features model={model} />
          </Section>
        </div>
        {snippets.length === 0 ? null : (
          <Section title="Ask it">
            <SnippetTabs snippets={snippets} model={model.id} />
          </Section>
        )}
      </div>
      <Section title="Price">
        <PriceTable offers={offers} />
      </Section>
    </>
  )
}

type Fact = readonly [name: string, value: ReactNode]

function factsOf(model: Model, offers: { group: string }[]): Fact[] {
  const { capabilities, aliases, endpoints, context_length, max_output_tokens } = model
  const facts: (Fact | undefined)[] = [
    ['Endpoints', <Endpoints key="endpoints" paths={endpoints} />],
    aliases.length === 0 ? undefined : ['Other names', aliases.join(', ')],
    ['Context', <Size key="context" tokens={context_length} />],
    ['Max output', <Size key="output" tokens={max_output_tokens} />],
    capabilities.input === null ? undefined : ['Reads', capabilities.input.join(', ')],
    capabilities.output === null ? undefined : ['Writes', capabilities.output.join(', ')],
    capabilities.reasoning_efforts === null
      ? undefined
      : ['Reasoning efforts', capabilities.reasoning_efforts.join(', ')],
    ['Groups', offers.map(({ group }) => group).join(', ')],
  ]
  return facts.filter((fact) => fact !== undefined)
}

function Endpoints({ paths }: { paths: readonly string[] }) {
  if (paths.length === 0) return <None why="Not known" />
  return (
    <span className={classes.endpoints}>
      {paths.map((path) => (
        <code key={path}>{path}</code>
      ))}
    </span>
  )
}

function Size({ tokens }: { tokens: number | null }) {
  return (
    <>
      <Tokens value={tokens} />
      {tokens === null ? null : ' tokens'}
    </>
  )
}

/**
 * What is known appears first, each with its date. What was never asked is one line: a list of it would hide
 * the rest.
 */
function Features({ model }: { model: Model }) {
  const known = features.filter(({ has }) => has(model) !== null)
  const unknown = features.filter(({ has }) => has(model) === null)
  return (
    <>
      {known.length === 0 ? null : (
        <ul className={classes.grid}>
          {known.map(({ id, label, has, member }) => (
            <FeatureLine
              key={id}
              label={label}
              has={has(model) === true}
              provedAt={member === undefined ? undefined : model.capabilities_proved_at[member]}
            />
          ))}
        </ul>
      )}
      {unknown.length === 0 ? null : (
        <p className="tg-quiet">Not known: {unknown.map(({ label }) => label).join(', ')}.</p>
      )}
    </>
  )
}

function FeatureLine({
  label,
  has,
  provedAt,
}: {
  label: string
  has: boolean
  /** ISO 8601; undefined: it was never tried. */
  provedAt: string | undefined
}) {
  const [Icon, word] = has ? [CheckIcon, 'yes'] : [XIcon, 'no']
  return (
    <li data-has={word}>
      <Icon size={14} aria-hidden />
      <span>
        {label}
        {/* A list of ticks needs no word; what is missing does. */}
        {has ? <span className="tg-heard">: yes</span> : <span className="tg-quiet">: {word}</span>}
        {provedAt === undefined ? null : (
          <span className="tg-quiet">
            , proved{' '}
            <time dateTime={provedAt} title={inUtc(new Date(provedAt))}>
              {day(new Date(provedAt))}
            </time>
          </span>
        )}
      </span>
    </li>
  )
}
