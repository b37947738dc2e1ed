import type { Schema } from '../../api/client.ts'

export type Plan = Schema<'ImportPlan'>
export type Asked = Schema<'ImportPlanRequest'>
export type ImportRow = Plan['rows'][number]
type ImportFormat = Asked['format']

/** What a request may have, with its other fields. */
export const textBytesMax = 1_000_000

/** The gateway that a file comes from, by its content; undefined: it does not tell. */
export function formatFor(text: string): ImportFormat | undefined {
  if (/^\s*-?\s*model_list\s*:/m.test(text) || /\blitellm_(params|settings)\b/.test(text)) return 'litellm'
  const isSql = /\b(INSERT INTO|COPY|CREATE TABLE)\b[^;]*\b(channels|tokens|users|options)\b/i.test(text)
  const isJson =
    /^\s*[[{]/.test(text) && /"(channels|tokens|users|options|base_url|remain_quota)"\s*:/.test(text)
  return isSql || isJson ? 'new-api' : undefined
}

/** Why a file cannot be read here; undefined: it can. */
export function fileFault(name: string, size: number, text: string): string | undefined {
  if (text.startsWith('SQLite format 3'))
    return `${name} is an SQLite file. Import it with "tollgate import new-api ${name}", or export its tables as JSON or SQL.`
  if (size > textBytesMax)
    return `${name} has more than 1 MB. Import it with "tollgate import", or export only the tables channels, tokens, users and options.`
  if (size === 0) return `${name} is empty.`
  return undefined
}

/** The pages of what was written, for links. */
export const placeOf = {
  models: '/console/models',
  channels: '/console/channels',
  groups: '/console/groups',
  tenants: '/console/tenants',
  keys: '/console/keys',
} as const

export const actionWords: Readonly<Record<ImportRow['action'], string>> = {
  create: 'create',
  change: 'change',
  skip: 'unchanged',
  conflict: 'conflict',
}
