import type { Row } from './cells.ts'
import { cellText, mapOf, wholeOf } from './cells.ts'
import { product } from './decimal.ts'
import type { Draft, GroupDraft, TenantDraft } from './imported.ts'
import { UniqueNames, VariableNames, visibleName } from './names.ts'
import { channelDraft } from './new-api-channels.ts'
import { keyOf, usdOfQuota } from './new-api-keys.ts'
import { priceOf, type Ratios, readRatios } from './new-api-prices.ts'
import type { Problems } from './problems.ts'
import type { Tables } from './sql-dump.ts'

/**
 * Converts a new-api export (QuantumNous/new-api, a fork of one-api) into a draft. The tables and columns are
 * those described in its documentation and in
 * https://deepwiki.com/QuantumNous/new-api/11.1-database-schema-and-architecture, read 2026-11-23; its source
 * code was not read. Throws an ImportError for an invalid number.
 */
export function draftFromNewApi(tables: Tables, problems: Problems): Draft {
  const variables = new VariableNames()
  const rows = (table: string) => live(tables.get(table) ?? [], table, problems)
  const names = { channels: new UniqueNames(), variables }
  const carried = rows('channels').flatMap((row) => channelDraft(row, names, problems) ?? [])
  const channels = carried.map(({ channel }) => channel)
  const ratios = readRatios(tables.get('options') ?? [], problems)
  const groups = groupsOf(carried, ratios, problems)
  const models = new Set(channels.flatMap(({ models }) => Object.keys(models)))
  tellRest(tables, problems)
  return {
    models: [...models].sort().map((id) => {
      const price = priceOf(id, ratios, problems)
      return { id, ...(price !== undefined && { price }) }
    }),
    channels,
    groups,
    tenants: tenantsOf(rows('users'), rows('tokens'), {
      groups: new Set(groups.map(({ name }) => name)),
      models,
      variables,
      problems,
    }),
  }
}

/** Filters out the rows that are marked as deleted. */
function live(rows: readonly Row[], table: string, problems: Problems): Row[] {
  const kept = rows.filter((row) => cellText(row, 'deleted_at').trim() === '')
  if (kept.length < rows.length)
    problems.note(
      `table ${table}`,
      `not imported, because they are marked as deleted: ${counted(rows.length - kept.length)}`,
    )
  return kept
}

function groupsOf(
  carried: readonly NonNullable<ReturnType<typeof channelDraft>>[],
  ratios: Ratios,
  problems: Problems,
): GroupDraft[] {
  const channelsOf = new Map<string, string[]>()
  for (const { channel, groups } of carried) {
    for (const group of groups.length === 0 ? ['default'] : groups) {
      channelsOf.set(group, [...(channelsOf.get(group) ?? []), channel.name])
    }
  }
  for (const name of ratios.names('GroupRatio')) {
    if (!channelsOf.has(name)) problems.lost(`group "${name}"`, 'none of its channels are carried over')
  }
  return [...channelsOf].flatMap(([name, channels]) => {
    if (visibleName(name, 128) !== name) {
      problems.lost('a group', 'its name is not valid in Tollgate')
      return []
    }
    const multiplier = product(ratios.of('GroupRatio', name) ?? '1')
    if (multiplier === undefined)
      problems.changed(`group "${name}"`, 'its ratio is not a decimal, so it becomes 1')
    return [{ name, models: ['*'], channels, price_multiplier: multiplier ?? '1' }]
  })
}

interface Around {
  groups: ReadonlySet<string>
  models: ReadonlySet<string>
  variables: VariableNames
  problems: Problems
}

function tenantsOf(users: readonly Row[], tokens: readonly Row[], around: Around): TenantDraft[] {
  const { problems } = around
  const tokensOf = Map.groupBy(tokens, (token) => cellText(token, 'user_id'))
  const names = new UniqueNames()
  const secrets = new Map<string, string>()
  const tenants = users.map((user): TenantDraft => {
    const id = cellText(user, 'id')
    const name = names.give(visibleName(cellText(user, 'username'), 128) ?? `user ${id}`, `#${id}`)
    const where = `user "${name}"`
    const quota = wholeOf(user, 'quota', where) ?? 0n
    if (quota < 0n) problems.changed(where, 'its quota is negative, so its balance becomes 0')
    if ((wholeOf(user, 'role', where) ?? 1n) >= 10n) {
      problems.lost(where, 'its admin role: create an admin user for this person')
    }
    const isUserDisabled = (wholeOf(user, 'status', where) ?? 1n) !== 1n
    if (isUserDisabled) problems.note(where, 'the user is disabled, so all its keys are disabled')
    const keyNames = new UniqueNames()
    const userGroup = cellText(user, 'group').trim() || 'default'
    const keys = (tokensOf.get(id) ?? []).flatMap((token) => {
      const key = keyOf(token, { ...around, tenant: name, userGroup, isUserDisabled, names: keyNames })
      const secret = key?.secret?.value
      if (key === undefined || secret === undefined) return []
      const owner = secrets.get(secret)
      secrets.set(secret, owner ?? `"${key.name}" of ${name}`)
      if (owner === undefined) return [key]
      problems.lost(`token "${key.name}" of ${name}`, `it has the same secret as ${owner}`)
      return []
    })
    return { name, balance_usd: usdOfQuota(quota), keys }
  })
  const known = new Set(users.map((user) => cellText(user, 'id')))
  for (const [id, orphans] of tokensOf) {
    if (!known.has(id))
      problems.lost(`user ${id}`, `${orphans.length} tokens, because their user is not in the file`)
  }
  if (users.length > 0)
    problems.lost('all users', 'passwords, sign-ins through other services, and used quota')
  return tenants
}

function counted(rows: number): string {
  return rows === 1 ? '1 row' : `${rows} rows`
}

/** Reports the rest of the file, which is not imported. */
function tellRest(tables: Tables, problems: Problems): void {
  for (const [name, rows] of tables) {
    if (!read.has(name) && rows.length > 0)
      problems.lost(`table ${name}`, `there is no equivalent in Tollgate for its ${counted(rows.length)}`)
  }
  for (const row of tables.get('options') ?? []) {
    const name = cellText(row, 'key')
    const value = mapOf(cellText(row, 'value'))
    if (lostOptions.has(name) && value !== undefined && Object.keys(value).length > 0) {
      problems.lost(`option ${name}`, 'there is no equivalent in Tollgate for its ratios')
    }
  }
}

const read: ReadonlySet<string> = new Set(['channels', 'tokens', 'users', 'options', 'abilities'])
const lostOptions: ReadonlySet<string> = new Set(['GroupGroupRatio', 'ImageRatio', 'TopupGroupRatio'])
