import { z } from 'zod'
import { integer } from '../drizzle.cjs'
import { budgetSetting, groupLimits } from './bounds.ts'
import { disabledSetting } from './disabled.ts'
import { formOf } from './form.ts'
import { settingOf } from './setting.ts'
import { wholeNumber } from './values.ts'

const limits = 'Limits of all its keys together'
const budget = 'Budget of all its keys together'
const section = 'Days to keep'
const days = wholeNumber(1, 36_500).optional()
const shownDays = z
  .int()
  .nullable()
  .describe('The number of days. Null if the global setting applies, which is also the maximum.')

/** The settings of a tenant, besides its name, balance and keys. */
export const settingsOfTenants = {
  disabled: disabledSetting(z.boolean().describe('Whether all keys of the tenant are refused.')),
  limits: groupLimits(limits, 'The limits of all keys of the tenant together.'),
  budget: budgetSetting(budget),
  /** The days for which its rows, bodies and answers are kept, if fewer than those of all tenants. */
  retention: settingOf({
    entry: z
      .strictObject({ rows_days: days, bodies_days: days, answers_days: days })
      .transform((of) => ({
        rowsDays: of.rows_days ?? null,
        bodiesDays: of.bodies_days ?? null,
        answersDays: of.answers_days ?? null,
      }))
      .prefault({}),
    part: (retention) => ({ retention }),
    columns: () => ({
      rowsDays: integer('rows_days'),
      bodiesDays: integer('bodies_days'),
      answersDays: integer('answers_days'),
    }),
    write: ({ retention }) => retention,
    read: ({ rowsDays, bodiesDays, answersDays }) => ({ retention: { rowsDays, bodiesDays, answersDays } }),
    shown: z
      .object({ rows_days: shownDays, bodies_days: shownDays, answers_days: shownDays })
      .describe('The number of days for which rows, bodies and answers of the tenant are kept.'),
    json: ({ retention: { rowsDays, bodiesDays, answersDays } }) => ({
      rows_days: rowsDays,
      bodies_days: bodiesDays,
      answers_days: answersDays,
    }),
    form: {
      rows_days: { section, label: 'Rows of the log', kind: 'integer' },
      bodies_days: { section, label: 'Bodies', kind: 'integer' },
      answers_days: { section, label: 'Answers', kind: 'integer' },
    },
  }),
}

const { retention: _retention, budget: _budget, ...ofRequests } = settingsOfTenants
/** Those that a request of one of its keys needs. */
export const tenantSettingsOfRequests = ofRequests

export const tenantForm = formOf(settingsOfTenants, [
  { title: 'Who pays' },
  { title: limits, about: 'Empty: unbounded.' },
  {
    title: budget,
    about: 'In USD, beside its balance. Days and months are those of UTC. Empty: no bound.',
  },
  {
    title: section,
    about: 'Empty: as for all tenants. More days than those of all tenants have no effect.',
  },
])
