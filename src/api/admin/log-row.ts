import { z } from 'zod'
import { requestColumns } from '../../journal/row.ts'
import type { NamesOf } from '../../usage/log/names-queries.ts'
import type { LogRow } from '../../usage/log/row-tests.ts'
import { rowSchema } from '../row-schema.ts'
import { requestJson, withoutChannel } from '../usage-json.ts'

const belonging = (what: string) =>
  z
    .object({ id: z.uuid(), name: z.string().nullable() })
    .nullable()
    .describe(`The ${what}, with its name at that time. Null if it is not known.`)

/** A row of the usage log as shown to admins in lists. */
export const logRow = rowSchema(requestColumns, ['list'])
  .extend({
    tenant: belonging('tenant'),
    key: belonging('key'),
    group: belonging("key's group"),
    client_address: z.string().nullable(),
    user_agent: z.string().nullable(),
  })
  .meta({ id: 'LogRow' })

/** `showsRouting`: whether the reader is allowed to see channels. */
export function logRowJson(row: LogRow, names: NamesOf, showsRouting: boolean): Record<string, unknown> {
  const nameOf = (kind: 'tenant' | 'key' | 'group', id: string | null) =>
    id === null ? null : { id, name: names.of(kind, id, row.created_at) }
  return {
    ...requestJson(showsRouting ? row : withoutChannel(row)),
    tenant: nameOf('tenant', row.tenant_id),
    key: nameOf('key', row.key_id),
    group: nameOf('group', row.group_id),
    client_address: row.client_address,
    user_agent: row.user_agent,
  }
}
