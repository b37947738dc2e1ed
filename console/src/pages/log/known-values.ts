import { useQuery } from '@tanstack/react-query'
import { channelNamesQuery, modelNamesQuery } from '../../api/access-queries.ts'
import { useSession } from '../../api/session.ts'
import { hasSecret } from '../../parts/looks-like-secret.ts'
import { foundQuery } from '../../parts/things-by-name.ts'
import { type FilterField, filterFields } from './log-filters.ts'

/** The filters that the reader may set. */
export function useFilterFields(): readonly FilterField[] {
  const { role } = useSession()
  return filterFields.filter((field) => role !== 'member' || field.for !== 'operators')
}

const shownMost = 50

/**
 * Values of a filter that contain these words. Names are those of today; a former one can be typed too, as
 * the log has it. Words with a secret find none, and are sent nowhere.
 */
export function useKnownValues(field: FilterField | undefined, words: string): readonly string[] {
  const name = field?.name
  const isSecret = hasSecret(words)
  const isModel = name === 'model' || name === 'requested_model'
  const models = useQuery({ ...modelNamesQuery, enabled: isModel })
  const channels = useQuery({ ...channelNamesQuery, enabled: name === 'channel' })
  const thing = (['tenant', 'key', 'group'] as const).find((one) => one === name)
  const found = useQuery({
    ...foundQuery(thing ?? 'tenant', isSecret ? '' : words),
    enabled: thing !== undefined && !isSecret,
  })
  if (isSecret) return []
  const read = isModel
    ? models.data
    : name === 'channel'
      ? channels.data
      : thing && found.data?.map((one) => one.name)
  const part = words.toLowerCase()
  const all = new Set(field?.values ?? read ?? [])
  return [...all].filter((value) => value.toLowerCase().includes(part)).slice(0, shownMost)
}
