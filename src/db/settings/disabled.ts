import { z } from 'zod'
import { moment } from '../schema/types.ts'
import { settingOf } from './setting.ts'

/** Whether all requests are refused. The row has the time since then. */
export const disabledSetting = (shown: z.ZodBoolean) =>
  settingOf({
    entry: z.boolean().default(false),
    part: (disabled) => ({ disabled }),
    columns: () => ({ disabledAt: moment('disabled_at') }),
    write: ({ disabled }, existing) => ({
      disabledAt: disabled ? (existing?.disabledAt ?? new Date()) : null,
    }),
    read: ({ disabledAt }) => ({ disabled: disabledAt !== null }),
    shown,
    json: ({ disabled }) => disabled,
  })
