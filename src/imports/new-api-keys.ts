import { readBlock } from '../canonical/address-blocks.ts'
import type { Row } from './cells.ts'
import { cellText, isTrue, splitCell, wholeOf } from './cells.ts'
import { quotient } from './decimal.ts'
import type { KeyDraft } from './imported.ts'
import { type UniqueNames, type VariableNames, visibleName } from './names.ts'
import type { Problems } from './problems.ts'

/**
 * 500,000 quota units are one dollar: https://www.newapi.ai/en/docs/guide/console/settings/rate-settings,
 * read 2026-11-23
 */
export function usdOfQuota(quota: bigint): string {
  return quotient(quota < 0n ? 0n : quota, 500_000n)
}

interface Surroundings {
  tenant: string
  /** The user's group, for tokens that have none. */
  userGroup: string
  isUserDisabled: boolean
  groups: ReadonlySet<string>
  models: ReadonlySet<string>
  names: UniqueNames
  variables: VariableNames
  problems: Problems
}

/**
 * Converts a token into a key. Returns undefined if it cannot be carried over, and adds the reason to
 * `problems`. In case of doubt the key gets fewer rights than before, never more.
 */
export function keyOf(row: Row, around: Surroundings): KeyDraft | undefined {
  const { tenant, groups, problems } = around
  const id = cellText(row, 'id')
  const title = visibleName(cellText(row, 'name'), 128) ?? `token ${id}`
  const where = `token "${title}" (id ${id}) of ${tenant}`
  const stored = cellText(row, 'key').trim()
  const secret = stored.startsWith('sk-') ? stored : `sk-${stored}`
  if (stored === '' || /\*/.test(stored)) {
    problems.lost(where, 'its secret is missing from the file or is masked')
    return undefined
  }
  if (!/^[\x21-\x7e]{16,512}$/.test(secret)) {
    problems.lost(
      where,
      'a secret must have 16 to 512 visible ASCII characters, so its client needs a new key',
    )
    return undefined
  }
  let group = cellText(row, 'group').trim() || around.userGroup
  if (group === 'auto') {
    problems.changed(where, `its group "auto" becomes "${around.userGroup}", the group of its user`)
    group = around.userGroup
  }
  if (!groups.has(group)) {
    problems.lost(where, `none of the channels of its group "${group}" are carried over`)
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

/** A time before 1970, or no time, means that the key never expires; -1 is common. */
function expiryOf(seconds: bigint): string | undefined {
  const last = 253_402_300_799n
  return seconds <= 0n ? undefined : new Date(Number(seconds > last ? last : seconds) * 1000).toISOString()
}

interface Narrowed {
  list: string[] | undefined
  /** Whether all the entries were dropped. The key must then not be able to reach anything. */
  isEmpty: boolean
}

function allowedModels(row: Row, where: string, { models, problems }: Surroundings): Narrowed {
  if (!isTrue(row, 'model_limits_enabled')) return { list: undefined, isEmpty: false }
  const named = splitCell(cellText(row, 'model_limits'), /,/)
  const known = named.filter((name) => models.has(name))
  if (known.length < named.length) problems.lost(where, 'the models in its list that no channel offers')
  if (known.length === 0)
    problems.changed(where, 'none of the models in its list are carried over, so the key is disabled')
  return known.length === 0 ? { list: undefined, isEmpty: true } : { list: known, isEmpty: false }
}

function allowedBlocks(row: Row, where: string, problems: Problems): Narrowed {
  const named = splitCell(cellText(row, 'allow_ips'), /[\r\n,]+/)
  if (named.length === 0) return { list: undefined, isEmpty: false }
  const blocks = named.flatMap((text) => readBlock(text) ?? [])
  if (blocks.length < named.length)
    problems.lost(where, 'the entries in its list (allow_ips) that are not addresses')
  if (blocks.length === 0)
    problems.changed(where, 'its list (allow_ips) contains no valid address, so the key is disabled')
  return blocks.length === 0 ? { list: undefined, isEmpty: true } : { list: blocks, isEmpty: false }
}
