import { z } from 'zod'
import { settingsOfGroups } from '../../db/settings/group-settings.ts'
import { jsonOf, membersOf } from '../../db/settings/setting.ts'
import type { GroupRow } from './group-queries.ts'
import { managedByShown } from './setting-schema.ts'

export const groupShown = z
  .object({
    id: z.uuid(),
    name: z.string(),
    ...membersOf(settingsOfGroups, 'shown'),
    managed_by: managedByShown,
  })
  .meta({ id: 'Group' })

export function groupJson(row: GroupRow): z.output<typeof groupShown> {
  const { id, name, managedBy } = row
  return { id, name, ...jsonOf(settingsOfGroups, row), managed_by: managedBy }
}
