import { cellText, isMap, isTrue, type Row } from './cells.ts'
import { product } from './decimal.ts'
import type { KeyDraft, TenantDraft } from './imported.ts'
import { UniqueNames, visibleName } from './names.ts'
import { ImportError, type Problems } from './problems.ts'

/**
 * Reads the keys of LiteLLM, in the format of `GET /key/list?return_full_object=true` or of the table
 * LiteLLM_VerificationToken. LiteLLM stores a SHA-256 hash of each key and Tollgate an HMAC, so a key cannot
 * be carried over and is replaced by a new one.
 * https://deepwiki.com/BerriAI/litellm/3.5.1-api-key-management, read 2026-11-23.
 */
export function tenantsOfKeys(text: string, models: ReadonlySet<string>, problems: Problems): TenantDraft[] {
  const tenants = new Map<string, TenantDraft & { names: UniqueNames }>()
  for (const row of keyRows(text)) {
    const owner = ['team_alias', 'team_id', 'user_email', 'user_id']
      .map((name) => cellText(row, name))
      .find((one) => one !== '')
    const tenant = visibleName(owner ?? 'litellm', 128) ?? 'litellm'
    const home = tenants.get(tenant) ?? { name: tenant, keys: [], names: new UniqueNames() }
    tenants.set(tenant, home)
    const mark = cellText(row, 'token').slice(0, 8)
    const title =
      visibleName(cellText(row, 'key_alias') || cellText(row, 'key_name') || `key ${mark}`, 128) ?? 'key'
    const name = home.names.give(title, `#${mark}`)
    home.keys.push(keyOf(row, name, `key "${name}" of ${tenant}`, models, problems))
  }
  return [...tenants.values()].map(({ names: _, ...tenant }) => tenant)
}

function keyRows(text: string): Row[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new ImportError(`the keys file is not valid JSON: ${cause instanceof Error ? cause.message : ''}`, {
      cause,
    })
  }
  const list = isMap(value) ? (value.keys ?? value.data) : value
  if (!Array.isArray(list))
    throw new ImportError('the keys file must contain a list of keys, or a map with the member "keys"')
  return list.map((row, at) => {
    if (isMap(row)) return row
    throw new ImportError(
      `keys[${at}]: expected a map. Export the keys with GET /key/list?return_full_object=true, which returns more than hashes`,
    )
  })
}

function keyOf(
  row: Row,
  name: string,
  where: string,
  models: ReadonlySet<string>,
  problems: Problems,
): KeyDraft {
  problems.lost(
    where,
    'its secret, because LiteLLM stores only a hash: a new secret is generated, which the client needs',
  )
  const named = Array.isArray(row.models) ? row.models.filter((one) => typeof one === 'string') : []
  const listed = named.filter((one) => !/^all-(proxy|team)-models$/.test(one))
  const known = listed.filter((one) => models.has(one))
  if (known.length < listed.length) problems.lost(where, 'the models in its list that are not carried over')
  const isClosed = listed.length > 0 && known.length === 0
  const limits = {
    ...bounded('requests_per_minute', row.rpm_limit),
    ...bounded('tokens_per_minute', row.tpm_limit),
    ...bounded('concurrency', row.max_parallel_requests),
  }
  const budget = budgetOf(row, where, problems)
  const expires = Date.parse(cellText(row, 'expires'))
  return {
    name,
    group: 'default',
    ...(!Number.isNaN(expires) && { expires_at: new Date(expires).toISOString() }),
    ...((isTrue(row, 'blocked') || isClosed) && { disabled: true }),
    ...(known.length > 0 && { allowed_models: known }),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(budget !== undefined && { budget }),
  }
}

function bounded(name: string, value: unknown): Record<string, number> {
  const bound = Number(value ?? 0)
  return Number.isSafeInteger(bound) && bound > 0 ? { [name]: Math.min(bound, 2_147_483_647) } : {}
}

function budgetOf(row: Row, where: string, problems: Problems): Record<string, string> | undefined {
  const text = cellText(row, 'max_budget')
  if (text === '') return undefined
  const usd = product(text)
  if (usd === undefined) {
    problems.lost(where, 'its max_budget, because it is not a decimal')
    return undefined
  }
  const duration = cellText(row, 'budget_duration')
  if (duration === '') {
    const spent = Number(cellText(row, 'spend') || 0)
    if (spent > 0)
      problems.changed(
        where,
        `the $${spent.toFixed(2)} already spent of its budget are not counted: spending starts at 0`,
      )
    return { total: usd }
  }
  if (/^(1d|24h)$/.test(duration)) return { day: usd }
  if (!/^(30d|31d|1mo)$/.test(duration)) {
    problems.changed(where, `its budget for ${duration.slice(0, 20)} becomes a daily budget`)
    return { day: usd }
  }
  problems.changed(where, `its budget for ${duration} becomes a budget per calendar month`)
  return { month: usd }
}
