import { Tabs, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { api, ask, type Schema } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import type { Texts } from '../../console-search.ts'
import { JsonEditor } from '../../parts/json-editor.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { done } from '../../parts/toast.tsx'
import { State } from '../../parts/tone.tsx'
import { Moment } from '../../parts/values.tsx'
import { Waiting } from '../../shell/waiting.tsx'
import { ArchivePart } from './archive-part.tsx'
import { ErasuresPart } from './erasures-part.tsx'
import { ExportPart } from './export-part.tsx'
import classes from './settings.module.css'

const tabs = [
  { tab: 'settings', title: 'Settings' },
  { tab: 'file', title: 'gateway.yaml' },
  { tab: 'archive', title: 'Archive' },
  { tab: 'erasures', title: 'Erasures' },
] as const

/** What this gateway is set to, and what it keeps for how long. */
export function SettingsPage() {
  const search: Texts = useSearch({ strict: false })
  const navigate = useNavigate()
  const may = useMay()
  const tab = typeof search.tab === 'string' ? search.tab : 'settings'
  return (
    <Page title="Settings">
      <Tabs
        value={tab}
        onChange={(next) =>
          void navigate({ to: '/console/settings', search: next === 'settings' ? {} : { tab: next ?? '' } })
        }
        keepMounted={false}
      >
        <Tabs.List mb={16}>
          {tabs
            .filter((one) => (one.tab !== 'archive' && one.tab !== 'erasures') || may('data'))
            .map((one) => (
              <Tabs.Tab key={one.tab} value={one.tab}>
                {one.title}
              </Tabs.Tab>
            ))}
        </Tabs.List>
        <Tabs.Panel value="settings">
          <All />
        </Tabs.Panel>
        <Tabs.Panel value="file">
          <ExportPart />
        </Tabs.Panel>
        <Tabs.Panel value="archive">
          <ArchivePart />
        </Tabs.Panel>
        <Tabs.Panel value="erasures">
          <ErasuresPart />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

function All() {
  const may = useMay()
  const queries = useQueryClient()
  const settings = useQuery({
    queryKey: ['settings'],
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/settings', { signal })),
  })
  if (settings.error !== null)
    return <Problem error={settings.error} onAgain={() => void settings.refetch()} />
  if (settings.data === undefined) return <Waiting />
  const { prices, environment } = settings.data
  const why =
    prices.managed_by === 'file'
      ? 'gateway.yaml says which library gives prices: change it there.'
      : may('settings', 'write')
        ? undefined
        : 'Only an owner changes settings.'
  return (
    <div className={classes.parts}>
      <Section title="Prices of a library">
        <span className="tg-quiet">
          Where a model has no price of its own, a library may give one: "library", or null for none.{' '}
          {prices.version === null ? null : (
            <>
              In force: {prices.version}, renewed <Moment at={prices.renewed_at} none="never" />.
            </>
          )}
        </span>
        <JsonEditor
          key={JSON.stringify(prices.value)}
          value={{ prices: prices.value }}
          why={why}
          save={async ({ prices: value }) => {
            await ask(api.PATCH('/admin/v1/settings', { body: { prices: value ?? null } }))
            done('The setting is in force')
            await queries.invalidateQueries({ queryKey: ['settings'] })
          }}
        />
      </Section>
      <Environment environment={environment} />
    </div>
  )
}

function Environment({ environment }: { environment: Schema<'Settings'>['environment'] }) {
  const search: Texts = useSearch({ strict: false })
  const navigate = useNavigate()
  const words = typeof search.find === 'string' ? search.find : ''
  const shown = environment.filter(({ name }) =>
    name.toLowerCase().includes(words.toLowerCase().replace(/\s+/g, '_')),
  )
  return (
    <Section
      title="Environment of the process that answers"
      actions={
        <TextInput
          size="xs"
          aria-label="Find a setting"
          placeholder="Find a setting"
          value={words}
          onChange={(event) =>
            void navigate({
              to: '/console/settings',
              search: event.currentTarget.value === '' ? {} : { find: event.currentTarget.value },
              replace: true,
            })
          }
        />
      }
    >
      <span className="tg-quiet">
        They change with a restart.{' '}
        <Link to="/docs/$" params={{ _splat: 'reference/configuration' }}>
          What each one does
        </Link>
      </span>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is focusable */}
      <section className={classes.scrolls} tabIndex={0} aria-label="Settings">
        <table className={classes.table}>
          <thead>
            <tr>
              <th>Name</th>
              <th>Value</th>
              <th>Default</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ name, value, default: usual, from, is_secret, is_set }) => (
              <tr key={name}>
                <th scope="row" className="tg-mono">
                  {name}
                </th>
                <td>
                  {is_secret ? (
                    <State tone={is_set ? 'good' : 'quiet'}>
                      {is_set ? 'set, and not shown' : 'not set'}
                    </State>
                  ) : (
                    <span className={from === 'environment' ? classes.set : undefined}>
                      {shownValue(value)}
                    </span>
                  )}
                </td>
                <td className="tg-quiet">{from === 'environment' && !is_secret ? shownValue(usual) : ''}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {shown.length === 0 ? <span className="tg-quiet">No setting has this name.</span> : null}
    </Section>
  )
}

function shownValue(value: unknown): string {
  if (value === null || value === undefined) return 'not set'
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? value : JSON.stringify(value)
}
