import { Switch } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Schema } from '../../api/client.ts'
import { count } from '../../format/numbers.ts'
import { FilterBar, SearchField, useFilters } from '../../parts/filters.tsx'
import { Section } from '../../parts/page.tsx'
import { Rows, type RowsColumn } from '../../parts/rows.tsx'
import { State } from '../../parts/state.tsx'
import { grouped, matches, settingWords } from './setting-groups.ts'
import classes from './settings.module.css'

type Setting = Schema<'Settings'>['environment'][number]

const columns: readonly RowsColumn<Setting>[] = [
  { head: 'Name', cell: ({ name }) => <span className={`tg-mono ${classes.name}`}>{name}</span> },
  { head: 'Value', cell: (setting) => <Value setting={setting} /> },
  {
    head: 'Default',
    cell: ({ name, default: usual, from, is_secret }) =>
      from === 'environment' && !is_secret ? <Shown name={name} value={usual} /> : null,
  },
]

/** What the process that answers was started with. */
export function EnvironmentPart({ environment }: { environment: readonly Setting[] }) {
  const filters = useFilters(['find', 'only'])
  const onlySet = filters.get('only') === 'set'
  const shown = environment.filter(
    ({ name, from }) => matches(name, filters.get('find')) && (!onlySet || from === 'environment'),
  )
  const set = environment.filter(({ from }) => from === 'environment').length
  return (
    <Section
      title="Environment of the process that answers"
      actions={
        <FilterBar>
          <Switch
            label={`Only the ${count(set)} that differ from the default`}
            checked={onlySet}
            onChange={(event) => filters.set({ only: event.currentTarget.checked ? 'set' : '' })}
          />
          <SearchField filters={filters} name="find" label="Find a setting" />
        </FilterBar>
      }
    >
      <span className="tg-quiet">
        They change with a restart.{' '}
        <Link to="/docs/$" params={{ _splat: 'reference/configuration' }}>
          What each of them does
        </Link>
      </span>
      {shown.length === 0 ? (
        <span className="tg-quiet">
          No setting has this name{onlySet ? ' and differs from its default' : ''}.
        </span>
      ) : null}
      {grouped(shown).map(({ title, settings }) => (
        <div key={title} className={classes.group}>
          <h3>{title}</h3>
          <div className={classes.columns}>
            <Rows label={title} columns={columns} rows={settings} idOf={({ name }) => name} none="None" />
          </div>
        </div>
      ))}
    </Section>
  )
}

function Value({ setting: { name, value, from, is_secret, is_set } }: { setting: Setting }) {
  if (is_secret)
    return <State tone={is_set ? 'good' : 'quiet'}>{is_set ? 'set, and not shown' : 'not set'}</State>
  return (
    <span className={from === 'environment' ? classes.set : undefined}>
      <Shown name={name} value={value} />
    </span>
  )
}

function Shown({ name, value }: { name: string; value: unknown }) {
  const { words, exact } = settingWords(name, value)
  return (
    <span title={exact} className={words === 'not set' ? 'tg-quiet' : undefined}>
      {words}
    </span>
  )
}
