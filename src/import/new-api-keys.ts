import { readBlock } from '../address-blocks.ts'
import type { Row } from './cells.ts'
import { cellText, isTrue, splitCell, wholeOf } from './cells.ts'
import { quotient } from './decimal.ts'
import type { KeyDraft } from './imported.ts'
import { type UniqueNames, type VariableNames, visibleName } from './names.ts'
import type { Problems } from './problems.ts'

/**
 * 500,000 quota units are a dollar: https://www.newapi.ai/en/docs/guide/console/settings/rate-settings, read
 * 2026-11-23
 */
export function usdOfQuota(quota: bigint): string {
  return quotient(quota < 0n ? 0n : quota, 500_000n)
}

interface Surroundings {
  tenant: string
  /** Of the user, for tokens without one. */
  userGroup: string
  isUserDisabled: boolean
  groups: ReadonlySet<string>
  models: ReadonlySet<string>
  names: UniqueNames
  variables: VariableNames
  problems: Problems
}

/**
 * Undefined: it cannot be carried over, and `problems` says why. In doubt, the key may do less than before,
 * never more.
 */
export function keyOf(row: Row, around: Surroundings): KeyDraft | undefined {
  const { tenant, groups, problems } = around
  const id = cellText(row, 'id')
  const title = visibleName(cellText(row, 'name'), 128) ?? `token ${id}`
  const where = `token "${title}" (id ${id}) of ${tenant}`
  const stored = cellText(row, 'key').trim()
  const secret = stored.startsWith('sk-') ? stored : `sk-${stored}`
  if (stored === '' || /\*/.test(stored)) {
    problems.lost(where, 'its secret is not in the file, or masked there')
    return undefined
  }
  if (!/^[\x21-\x7e]{16,512}$/.test(secret)) {
    problems.lost(
      where,
      'its secret must have 16 to 512 visible ASCII characters: its client needs another key',
    )
    return undefined
  }
  let group = cellText(row, 'group').trim() || around.userGroup
  if (group === 'auto') {
    problems.changed(where, `its group "auto" becomes "${around.userGroup}", that of its user`)
    group = around.userGroup
  }
  if (!groups.has(group)) {
    problems.lost(where, `its group "${group}" has no channel that is carried over`)
    return undefined
  }
  const models = allowedModels(row, where, around)
  const cidrs = allowedBlocks(row, where, problems)
  const isDisabled =
    (wholeOf(row, 'status', where) ?? 1n) !== 1n || around.isUserDisabled || models.isEmpty || cidrs.isEmpty
  const name = around.names.give(title, `#${id}`)
  const expiry = expiryOf(wholeOf(row, 'expired_time', where) ?? -1n)
  return {
    name,
    group,
    secret: { variable: around.variables.give(tenant, name, 'secret'), value: secret },
    ...(expiry !== undefined && { expires_at: expiry }),
    ...(isDisabled && { disabled: true }),
    ...(models.list !== undefined && { allowed_models: models.list }),
    ...(cidrs.list !== undefined && { allowed_cidrs: cidrs.list }),
    ...(!isTrue(row, 'unlimited_quota') && {
      budget: { total: usdOfQuota(wholeOf(row, 'remain_quota', where) ?? 0n) },
    }),
  }
}

/** A moment before 1970, or no moment, means none: -1 never expires. */
function expiryOf(seconds: bigint): string | undefined {
  const last = 253_402_300_799n
  return seconds <= 0n ? undefined : new Date(Number(seconds > last ? last : seconds) * 1000).toISOString()
}

interface Narrowed {
  list: string[] | undefined
  /** The key was restricted to things that do not exist here: it can reach nothing. */
  isEmpty: boolean
}

function allowedModels(row: Row, where: string, { models, problems }: Surroundings): Narrowed {
  if (!isTrue(row, 'model_limits_enabled')) return { list: undefined, isEmpty: false }
  const named = splitCell(cellText(row, 'model_limits'), /,/)
  const known = named.filter((name) => models.has(name))
  if (known.length < named.length) problems.lost(where, 'models of its list that no channel has')
  if (known.length === 0) problems.changed(where, 'no model of its list is carried over: the key is disabled')
  return known.length === 0 ? { list: undefined, isEmpty: true } : { list: known, isEmpty: false }
}

function allowedBlocks(row: Row, where: string, problems: Problems): Narrowed {
  const named = splitCell(cellText(row, 'allow_ips'), /[\r\n,]+/)
  if (named.length === 0) return { list: undefined, isEmpty: false }
  const blocks = named.flatMap((text) => readBlock(text) ?? [])
  if (blocks.length < named.length)
    problems.lost(where, 'entries of its list (allow_ips) that are not addresses')
  if (blocks.length === 0) problems.changed(where, 'no address of its list is one: the key is disabled')
  return blocks.length === 0 ? { list: undefined, isEmpty: true } : { list: blocks, isEmpty: false }
}
