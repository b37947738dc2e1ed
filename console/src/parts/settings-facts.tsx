import { Code } from './code.tsx'
import { at, type Field, settingsOf } from './fields.ts'
import { Facts } from './page.tsx'
import classes from './settings-facts.module.css'
import type { FieldGroup } from './settings-form.tsx'

/** The settings of a resource that are not empty, in the words of its form, and all of them as JSON. */
export function SettingsFacts({
  groups,
  names,
  of,
}: {
  groups: readonly FieldGroup[]
  /** All settings that the API has. */
  names: readonly string[]
  of: unknown
}) {
  const stated = groups.flatMap(({ title, fields }) => {
    const facts = fields.flatMap((field) => {
      const words = inWords(field, at(of, field.path))
      return words === '' ? [] : [[field.label, words] as const]
    })
    return facts.length === 0 ? [] : [{ title, facts }]
  })
  return (
    <>
      <div className={classes.groups}>
        {stated.map(({ title, facts }) => (
          <section key={title} aria-label={title}>
            <h3>{title}</h3>
            <Facts facts={facts} />
          </section>
        ))}
      </div>
      {stated.length === 0 ? <span className="tg-quiet">All settings have their defaults.</span> : null}
      <details className={classes.json}>
        <summary>All settings as JSON</summary>
        <Code text={JSON.stringify(settingsOf(names, of), null, 2)} what="the settings" />
      </details>
    </>
  )
}

/** The traits that a file or an admin has stated, for `SettingsFacts`. */
export function statedTraits(traits: object | null): FieldGroup {
  const fields = Object.keys(traits ?? {}).map((name) => ({
    path: `traits.${name}`,
    label: name.replaceAll('_', ' '),
    kind: 'text' as const,
  }))
  return { title: 'Stated traits', fields }
}

/** Empty: it has its default. */
function inWords({ kind, options = [], isSecret }: Field, value: unknown): string {
  if (value === null || value === undefined) return ''
  if (kind === 'switch') return value === true ? 'yes' : ''
  if (kind === 'tags') return value === true ? 'all' : Array.isArray(value) ? value.join(', ') : ''
  if (kind === 'choice') return options.find((option) => option.value === value)?.label ?? String(value)
  if (kind === 'words' && String(value).startsWith('-----BEGIN')) return 'stated, in PEM'
  if (kind === 'pairs' && isSecret === true) return Array.isArray(value) ? value.join(', ') : ''
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value === 'object') return JSON.stringify(value)
  return typeof value === 'number' ? value.toLocaleString('en-US') : String(value)
}
