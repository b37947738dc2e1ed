import type { FieldGroup } from '../../parts/settings-form.tsx'
import { budgetFields, limitFields } from '../access/bound-fields.ts'

/** Every setting of a key that the API takes, for the JSON of the form. */
export const keySettings = [
  'name',
  'group',
  'capture',
  'capture_answers',
  'responses',
  'usage_scope',
  'strict',
  'sub_keys',
  'expires_at',
  'disabled',
  'allowed_models',
  'allowed_cidrs',
  'limits',
  'budget',
] as const

export interface KeyChoices {
  /** Names; absent: the tenant is given. */
  tenants?: readonly string[]
  groups: readonly string[]
  models: readonly string[]
  /** The key has a secret elsewhere, which it keeps. */
  isImport?: boolean
  isNew: boolean
}

const orGroup = [{ value: '', label: 'As its group' }]
const yesNo = [
  { value: 'yes', label: 'Yes' },
  { value: 'no', label: 'No' },
]

/** The form of a key. The first groups are what most keys need. */
export function keyFields(choices: KeyChoices): FieldGroup[] {
  return [
    whoItIs(choices),
    {
      title: 'What it may use',
      fields: [
        {
          path: 'allowed_models',
          label: 'Models',
          kind: 'tags',
          about: 'Empty: all models of its group',
          suggestions: choices.models,
        },
        {
          path: 'allowed_cidrs',
          label: 'Networks of its clients',
          kind: 'tags',
          about: 'Empty: any address',
          placeholder: '10.0.0.0/8',
        },
      ],
    },
    {
      title: 'Limits',
      about: 'All three empty: the limits of its group. One of them set: the others are unbounded.',
      fields: limitFields('limits'),
    },
    {
      title: 'Budget',
      about: 'In USD, beside the budget of its group. Days and months are those of UTC. Empty: no bound.',
      fields: budgetFields(),
    },
    whatIsKept,
  ]
}

function whoItIs({ tenants, groups, isImport = false, isNew }: KeyChoices): FieldGroup {
  return {
    title: 'Who it is',
    fields: [
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
        about: 'Models, channels and prices',
        options: [
          ...(isNew && (groups.length === 0 || groups.includes('default'))
            ? [{ value: '', label: 'default' }]
            : []),
          ...groups
            .filter((name) => !isNew || name !== 'default')
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
      { path: 'expires_at', label: 'Expires', kind: 'moment', about: 'On your clock; empty: never' },
    ],
  }
}

const whatIsKept: FieldGroup = {
  title: 'What is kept, and more',
  fields: [
    {
      path: 'capture',
      label: 'Bodies in the log',
      kind: 'choice',
      options: [
        { value: '', label: 'Content (default)' },
        { value: 'content', label: 'Content, without secrets' },
        { value: 'shape', label: 'Their shape only' },
        { value: 'none', label: 'Nothing' },
      ],
    },
    {
      path: 'capture_answers',
      label: 'Answers in the log',
      kind: 'choice',
      isBoolean: true,
      options: [...orGroup, ...yesNo],
    },
    {
      path: 'responses.store',
      label: 'Keep answers for later requests',
      kind: 'choice',
      isBoolean: true,
      options: [...orGroup, ...yesNo],
    },
    { path: 'responses.days', label: 'Days to keep them', kind: 'integer', placeholder: '30' },
    {
      path: 'usage_scope',
      label: 'Rows, jobs and files it sees',
      kind: 'choice',
      options: [
        { value: '', label: 'Those of its tenant (default)' },
        { value: 'tenant', label: 'Those of its tenant' },
        { value: 'key', label: 'Its own' },
      ],
    },
    { path: 'sub_keys', label: 'Sub-keys at once', kind: 'integer', about: 'Empty: it may make none' },
    {
      path: 'strict',
      label: 'Strict: refuse what translation would drop',
      kind: 'switch',
    },
  ],
}
