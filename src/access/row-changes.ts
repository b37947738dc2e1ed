import { isDeepStrictEqual } from 'node:util'
import { isRecord, type Json } from '../canonical/json.ts'
import { channelOut, modelWords } from '../catalog/entry-out.ts'
import type { FileKind } from '../catalog/file-changes.ts'
import type { SecretKeeper } from '../secrets/secret-key.ts'
import { groupWords, keyWords, tenantOut } from './access-out.ts'
import { shownKey } from './apply-tenants.ts'
import type { ExportRows } from './export-queries.ts'
import { connectionOf } from './export-yaml.ts'

/**
 * A changed setting of a row, in the vocabulary of gateway.yaml. Null: the setting is not set, so its default
 * applies.
 */
export interface RowChange {
  /** A nested setting is written with a dot: `price.input`. */
  name: string
  from: unknown
  to: unknown
}

/**
 * The settings of all rows, by kind and by the name that a plan uses for the row. They contain no secrets.
 */
export type RowWords = Readonly<Record<FileKind, ReadonlyMap<string, Json>>>

export function wordsOfRows(rows: ExportRows, keeper: SecretKeeper): RowWords {
  const priceOf = new Map(rows.prices.map((price) => [price.modelId, price]))
  const offersOf = Map.groupBy(rows.offers, ({ channelId }) => channelId)
  const credentialsOf = Map.groupBy(rows.credentials, ({ channelId }) => channelId)
  const groupNames = new Map(rows.groups.map(({ id, name }) => [id, name]))
  const tenantNames = new Map(rows.tenants.map(({ tenant }) => [tenant.id, tenant.name]))
  return {
    models: new Map(
      rows.models.map((row) => [row.id, { ...modelWords(row, priceOf.get(row.id)), ...disabledWord(row) }]),
    ),
    channels: new Map(
      rows.channels.map((row) => [
        row.name,
        {
          ...channelOut(row, offersOf.get(row.id) ?? []),
          api_keys: countText(credentialsOf.get(row.id)?.length ?? 0),
          ...connectionOf(row, keeper, () => hidden),
          ...disabledWord(row),
        },
      ]),
    ),
    groups: new Map(rows.groups.map((row) => [row.name, groupWords(row)])),
    tenants: new Map(
      rows.tenants.map(({ tenant, limited, balance }) => [
        tenant.name,
        tenantOut(tenant, limited ? balance : undefined),
      ]),
    ),
    keys: new Map(
      rows.keys.map((row) => [
        shownKey(tenantNames.get(row.tenantId), row.name),
        keyWords(row, groupNames.get(row.groupId) ?? ''),
      ]),
    ),
  }
}

const hidden = '(secret)'

/** Maps columns with secrets to the setting whose values are not shown. */
const secretMembers: Readonly<Record<string, string>> = {
  credentials: 'api_keys',
  connectionSealed: 'connection',
  secretHash: 'secret',
}

/**
 * Returns the differences between two states of a row. `members` are the changed columns, some of which
 * contain secrets.
 */
export function changesBetween(
  before: Json | undefined,
  after: Json | undefined,
  members: readonly string[],
): RowChange[] {
  const [from, to] = [flatten(before ?? {}), flatten(after ?? {})]
  const names = new Set([...from.keys(), ...to.keys()])
  const shown = [...names].flatMap((name): RowChange[] => {
    const change = { name, from: from.get(name) ?? null, to: to.get(name) ?? null }
    return isDeepStrictEqual(change.from, change.to) ? [] : [change]
  })
  const secret = members.flatMap((member): RowChange[] => {
    const name = secretMembers[member]
    if (name === undefined || shown.some((change) => isOf(name, change.name))) return []
    const value = name === 'api_keys' ? after?.[name] : hidden
    return [{ name, from: value, to: `${value}, changed` }]
  })
  return [...shown, ...secret]
}

/** Whether the shown change already covers this setting. */
function isOf(name: string, shown: string): boolean {
  return name === 'connection' ? /^(proxy|ca|cert|key|headers)(\.|$)/.test(shown) : shown === name
}

/** Flattens nested settings to dotted names. Lists are kept as they are. */
function flatten(words: Json, prefix = ''): Map<string, unknown> {
  return new Map(
    Object.entries(words).flatMap(([name, value]): [string, unknown][] =>
      isRecord(value) && Object.keys(value).length > 0
        ? [...flatten(value, `${prefix}${name}.`)]
        : [[`${prefix}${name}`, value]],
    ),
  )
}

function countText(secrets: number): string {
  return secrets === 1 ? '1 secret' : `${secrets} secrets`
}

/**
 * For the plan only: a file cannot express that a row is disabled, because every row that it contains is
 * enabled.
 */
function disabledWord({ disabledAt }: { disabledAt: Date | null }): Json {
  return disabledAt === null ? {} : { disabled: true }
}
