import { z } from 'zod'
import { boolean, integer, smallint, text } from '../drizzle.cjs'
import { budgetSetting, groupLimits, totalLimits } from './bounds.ts'
import { formOf } from './form.ts'
import { keepingForm, keepingJson, keepingShown, keepingWords, keptDaysOf } from './keeping.ts'
import { setting, settingOf } from './setting.ts'
import { description, multiplier, name, wholeNumber } from './values.ts'

const use = 'What its keys may use'
const kept = 'What is kept, and more'
const policies = ['drain', 'abort'] as const
const unseens = ['estimate', 'hold'] as const
const names = z.array(name(256)).min(1).default(['*'])

/** The settings of a group, besides its name. */
export const settingsOfGroups = {
  description: setting('description', {
    entry: description.optional(),
    column: () => text('description'),
    shown: z.string().nullable(),
    form: { section: 'What it is', label: 'Description', kind: 'words', about: 'For people' },
  }),
  public: setting('public', {
    entry: z.boolean().default(false),
    column: () => boolean('public').notNull().default(false),
    shown: z
      .boolean()
      .describe('Whether the public catalog shows the models and prices of the group to everyone.'),
    form: {
      section: use,
      label: 'Public: everybody sees its models and prices',
      kind: 'switch',
      isLast: true,
    },
  }),
  models: setting('models', {
    entry: names,
    column: () => text('models').array().notNull(),
    shown: z.array(z.string()).describe('The models of the group; `*` means all models.'),
    exported: ({ models }) => models,
    form: { section: use, label: 'Models', kind: 'tags', about: 'Empty or *: all', suggests: 'models' },
  }),
  channels: setting('channels', {
    entry: names,
    column: () => text('channels').array().notNull(),
    shown: z.array(z.string()).describe('The channels of the group; `*` means all channels.'),
    exported: ({ channels }) => channels,
    form: { section: use, label: 'Channels', kind: 'tags', about: 'Empty or *: all', suggests: 'channels' },
  }),
  /** A decimal string. */
  price_multiplier: setting('priceMultiplier', {
    entry: multiplier.default('1'),
    column: () => text('price_multiplier').notNull().default('1'),
    shown: z.string(),
    form: {
      section: use,
      label: 'Price multiplier',
      kind: 'text',
      about: 'Prices times this',
      placeholder: '1',
    },
  }),
  /** Queued images with a higher priority run first. */
  image_priority: setting('imagePriority', {
    entry: wholeNumber(0, 100).default(0),
    column: () => smallint('image_priority').notNull().default(0),
    shown: z.int(),
    form: {
      section: use,
      label: 'Priority of image jobs',
      kind: 'integer',
      about: '0 to 100, higher goes first',
    },
  }),
  capture_answers: setting('captureAnswers', {
    entry: z.boolean().default(false),
    column: () => boolean('capture_answers').notNull().default(false),
    shown: z.boolean().describe('Whether the usage log keeps answers. Can be overridden per key.'),
    form: { section: kept, label: 'Keep answers in the log', kind: 'switch' },
  }),
  /**
   * The days for which answers of its keys are kept, 0 if none are; and the model that summarises
   * conversations instead of the client's.
   */
  responses: settingOf({
    entry: keepingWords
      .extend({ store: z.boolean().default(false), compact_model: name(256).optional() })
      .transform((of) => ({ keptDays: keptDaysOf(of), compactModel: of.compact_model }))
      .prefault({}),
    part: (value) => value,
    columns: () => ({
      keptDays: smallint('kept_days').notNull().default(0),
      compactModel: text('compact_model'),
    }),
    write: ({ keptDays, compactModel = null }) => ({ keptDays, compactModel }),
    read: ({ keptDays, compactModel }) => ({ keptDays, compactModel: compactModel ?? undefined }),
    shown: keepingShown
      .extend({
        compact_model: z
          .string()
          .optional()
          .describe("The model that summarises conversations. If absent, the client's model is used."),
      })
      .describe('Whether answers are kept for later requests. Can be overridden per key.'),
    json: ({ keptDays, compactModel }) => ({
      ...keepingJson(keptDays),
      ...(compactModel !== undefined && { compact_model: compactModel }),
    }),
    form: {
      ...keepingForm(kept, { kind: 'switch' }),
      compact_model: {
        section: kept,
        label: 'Model that sums up conversations',
        kind: 'text',
        about: "Empty: the client's",
      },
    },
  }),
  /** `unseen`: whether the cost of an answer that no one saw is charged at once or first held. */
  client_gone: settingOf({
    entry: z
      .strictObject({
        policy: z.enum(policies).default('drain'),
        seconds: wholeNumber(0, 3600).default(30),
        unseen: z.enum(unseens).default('estimate'),
      })
      .prefault({}),
    part: (clientGone) => ({ clientGone }),
    columns: () => ({
      clientGonePolicy: text('client_gone_policy', { enum: policies }).notNull().default('drain'),
      clientGoneSeconds: integer('client_gone_seconds').notNull().default(30),
      clientGoneUnseen: text('client_gone_unseen', { enum: unseens }).notNull().default('estimate'),
    }),
    write: ({ clientGone: { policy, seconds, unseen } }) => ({
      clientGonePolicy: policy,
      clientGoneSeconds: seconds,
      clientGoneUnseen: unseen,
    }),
    read: ({ clientGonePolicy: policy, clientGoneSeconds: seconds, clientGoneUnseen: unseen }) => ({
      clientGone: { policy, seconds, unseen },
    }),
    shown: z.object({
      policy: z.enum(policies),
      seconds: z.int(),
      unseen: z
        .enum(unseens)
        .describe(
          'For a limited balance, if no part of the answer had arrived: whether its cost is charged at once or first held.',
        ),
    }),
    json: ({ clientGone }) => clientGone,
    exported: ({ clientGone: { policy, seconds, unseen } }) => ({
      policy,
      seconds,
      ...(unseen !== 'estimate' && { unseen }),
    }),
    form: {
      policy: {
        section: kept,
        label: 'When a client leaves',
        kind: 'choice',
        options: { '': 'Read on (default)', drain: 'Read on', abort: 'End the call' },
      },
      seconds: { section: kept, label: 'Seconds to read on', kind: 'integer', placeholder: '30' },
      unseen: {
        section: kept,
        label: 'When it leaves before the answer, money is',
        kind: 'choice',
        options: {
          '': 'Charged by an estimate (default)',
          estimate: 'Charged by an estimate',
          hold: 'Held first, then charged',
        },
        about: 'Where money is limited',
      },
    },
  }),
  limits: groupLimits('Limits of each key', 'The limits of each key that has none of its own.'),
  total_limits: totalLimits('Limits of all its keys together'),
  budget: budgetSetting('Budget of all its keys together', 'Sums up the whole log first'),
}

const { description: _description, public: _public, budget: _budget, ...ofRequests } = settingsOfGroups
/** Those that a request of one of its keys needs. */
export const groupSettingsOfRequests = ofRequests

export const groupForm = formOf(settingsOfGroups, [
  { title: 'What it is' },
  { title: use },
  { title: 'Limits of each key', about: 'For keys without limits of their own. Empty: unbounded.' },
  { title: 'Limits of all its keys together', about: 'Of all tenants. Empty: unbounded.' },
  {
    title: 'Budget of all its keys together',
    about: 'In USD. Days and months are those of UTC. Empty: no bound.',
  },
  { title: kept },
])
