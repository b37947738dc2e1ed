import { z } from 'zod'
import { boolean, integer, smallint, text } from '../drizzle.cjs'
import { moment } from '../schema/types.ts'
import { budgetSetting, keyLimits } from './bounds.ts'
import { disabledSetting } from './disabled.ts'
import { asGroup, formOf } from './form.ts'
import { keeping, keepingForm, keepingJson, keepingShown } from './keeping.ts'
import { setting, settingOf } from './setting.ts'
import { cidr, expiry, name, wholeNumber } from './values.ts'

const use = 'What it may use'
const kept = 'What is kept, and more'
const captures = ['none', 'shape', 'content'] as const
const scopes = ['tenant', 'key'] as const

/**
 * The settings of a key, besides its name, group and secret. A new one is an entry here, its migration and
 * what a request does with it.
 */
export const settingsOfKeys = {
  capture: setting('capture', {
    entry: z.enum(captures).default('content'),
    column: () => text('capture', { enum: captures }).notNull().default('content'),
    shown: z.enum(captures),
    form: {
      section: kept,
      label: 'Bodies in the log',
      kind: 'choice',
      options: {
        '': 'Content (default)',
        content: 'Content, without secrets',
        shape: 'Their shape only',
        none: 'Nothing',
      },
    },
  }),
  /** Whether the usage log keeps its answers, which requires `capture: content`. Absent: as its group. */
  capture_answers: setting('captureAnswers', {
    entry: z.boolean().optional(),
    column: () => boolean('capture_answers'),
    shown: z
      .boolean()
      .nullable()
      .describe('Whether the usage log keeps answers. Null if the setting of the group applies.'),
    form: { section: kept, label: 'Answers in the log', kind: 'choice', isBoolean: true, options: asGroup },
  }),
  /** The days for which its answers are kept; 0: none are kept. Absent: as its group. */
  responses: settingOf({
    entry: keeping.optional(),
    part: (keptDays) => ({ keptDays }),
    columns: () => ({ keptDays: smallint('kept_days') }),
    write: ({ keptDays = null }) => ({ keptDays }),
    read: ({ keptDays }): { keptDays: number | undefined } => ({ keptDays: keptDays ?? undefined }),
    shown: keepingShown
      .nullable()
      .describe('Whether answers are kept for later requests. Null if the setting of the group applies.'),
    json: ({ keptDays }) => (keptDays === undefined ? null : keepingJson(keptDays)),
    form: keepingForm(kept, { kind: 'choice', isBoolean: true, options: asGroup }),
  }),
  /** The rows of the usage log that it can read: those of its tenant, or only its own. */
  usage_scope: setting('usageScope', {
    entry: z.enum(scopes).default('tenant'),
    column: () => text('usage_scope', { enum: scopes }).notNull().default('tenant'),
    shown: z.enum(scopes),
    form: {
      section: kept,
      label: 'Rows, jobs and files it sees',
      kind: 'choice',
      options: {
        '': 'Those of its tenant (default)',
        tenant: 'Those of its tenant',
        key: 'Its own',
      },
    },
  }),
  /** True: a request is refused if its translation would lose something. */
  strict: setting('strict', {
    entry: z.boolean().default(false),
    column: () => boolean('strict').notNull().default(false),
    shown: z.boolean(),
    form: {
      section: kept,
      label: 'Strict: refuse what translation would drop',
      kind: 'switch',
      isLast: true,
    },
  }),
  sub_keys: setting('subKeysMax', {
    entry: wholeNumber(1, 10_000).optional(),
    column: () => integer('sub_keys_max'),
    shown: z
      .int()
      .nullable()
      .describe('The maximum number of sub-keys at a time. Null if the key cannot create any.'),
    form: { section: kept, label: 'Sub-keys at once', kind: 'integer', about: 'Empty: it may make none' },
  }),
  expires_at: settingOf({
    entry: expiry.optional(),
    part: (expiresAt) => ({ expiresAt }),
    columns: () => ({ expiresAt: moment('expires_at') }),
    write: ({ expiresAt = null }) => ({ expiresAt }),
    read: ({ expiresAt }): { expiresAt: Date | undefined } => ({ expiresAt: expiresAt ?? undefined }),
    shown: z.iso.datetime().nullable().describe('When the key expires. Null if it never does.'),
    json: ({ expiresAt }) => expiresAt?.toISOString() ?? null,
    form: {
      section: 'Who it is',
      label: 'Expires',
      kind: 'moment',
      about: 'On your clock; empty: never',
    },
  }),
  disabled: disabledSetting(z.boolean()),
  allowed_models: setting('allowedModels', {
    entry: z.array(name(256)).min(1).optional(),
    column: () => text('allowed_models').array(),
    shown: z
      .array(z.string())
      .nullable()
      .describe('The allowed models. Null if all models of the group are allowed.'),
    form: {
      section: use,
      label: 'Models',
      kind: 'tags',
      about: 'Empty: all models of its group',
      suggests: 'models',
    },
  }),
  allowed_cidrs: setting('allowedCidrs', {
    entry: z.array(cidr).min(1).optional(),
    column: () => text('allowed_cidrs').array(),
    shown: z
      .array(z.string())
      .nullable()
      .describe('The allowed CIDR blocks. Null if any address is allowed.'),
    form: {
      section: use,
      label: 'Networks of its clients',
      kind: 'tags',
      about: 'Empty: any address',
      placeholder: '10.0.0.0/8',
    },
  }),
  limits: keyLimits('Limits'),
  budget: budgetSetting('Budget'),
}

const { capture, capture_answers, responses, strict } = settingsOfKeys
/** Those that a sub-key always takes from its parent. Its row has copies. */
export const settingsOfParents = { capture, capture_answers, responses, strict }

export const keyForm = formOf(settingsOfKeys, [
  { title: 'Who it is' },
  { title: use },
  {
    title: 'Limits',
    about: 'All three empty: the limits of its group. One of them set: the others are unbounded.',
  },
  {
    title: 'Budget',
    about: 'In USD, beside the budget of its group. Days and months are those of UTC. Empty: no bound.',
  },
  { title: kept },
])
