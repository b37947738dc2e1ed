import type { Field } from '../../parts/fields.ts'
import type { FieldGroup } from '../../parts/settings-form.tsx'
import { sectionsOf } from '../access/setting-sections.ts'

export interface KeyChoices {
  /** Names; absent: the tenant is given. */
  tenants?: readonly string[]
  groups: readonly string[]
  models: readonly string[]
  /** The key has a secret elsewhere, which it keeps. */
  isImport?: boolean
  isNew: boolean
  /** One of `groups` must be chosen. Absent: there is a default. */
  isGroupNeeded?: boolean
}

/** The form of a key. The first groups are what most keys need. */
export function keyFields(choices: KeyChoices): FieldGroup[] {
  const sections = sectionsOf('key', whoItIs(choices), { models: choices.models })
  return choices.isGroupNeeded === true && !choices.isNew ? sections.map(withOneWay) : sections
}

/** A member cannot raise again what it lowers. */
function withOneWay(section: FieldGroup): FieldGroup {
  const isBound = section.fields.some(({ path }) => /^(limits|budget)\./.test(path))
  const about = [section.about, 'You can lower what is set here. Only an admin can raise it again.']
  return isBound ? { ...section, about: about.filter((words) => words !== undefined).join(' ') } : section
}

function whoItIs({ tenants, groups, isImport = false, isNew, isGroupNeeded = false }: KeyChoices): Field[] {
  const hasDefault = isNew && !isGroupNeeded
  return [
    {
      path: 'name',
      label: 'Name',
      kind: 'text',
      required: true,
      placeholder: 'ci',
      about: 'Unique in its tenant',
    },
    ...(tenants === undefined
      ? []
      : [
          {
            path: 'tenant',
            label: 'Tenant',
            kind: 'choice' as const,
            required: true,
            about: 'Who pays',
            options: tenants.map((name) => ({ value: name, label: name })),
          },
        ]),
    {
      path: 'group',
      label: 'Group',
      kind: 'choice',
      about: isGroupNeeded ? 'Models and prices' : 'Models, channels and prices',
      required: isGroupNeeded,
      options: [
        ...(hasDefault && (groups.length === 0 || groups.includes('default'))
          ? [{ value: '', label: 'default' }]
          : []),
        ...groups
          .filter((name) => !hasDefault || name !== 'default')
          .map((name) => ({ value: name, label: name })),
      ],
    },
    ...(isImport
      ? [
          {
            path: 'secret',
            label: 'Secret',
            kind: 'secret' as const,
            required: true,
            about: '16 to 512 visible characters',
          },
        ]
      : []),
  ]
}
