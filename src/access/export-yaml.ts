import { stringify } from 'yaml'
import type { Json } from '../canonical/json.ts'
import { storedChannel } from '../catalog/change-entries.ts'
import { openedConnection } from '../catalog/channel-connection.ts'
import { channelOut, connectionWords, modelWords } from '../catalog/entry-out.ts'
import { libraryWords } from '../catalog/library/admin-library.ts'
import type { SecretKeeper } from '../secrets/secret-key.ts'
import { groupWords, keyWords, tenantOut } from './access-out.ts'
import type { ExportRows } from './export-queries.ts'

/** Tollgate creates the tenant for the probes itself. */
const ownTenant = 'tollgate-probes'

/**
 * Returns the state of a gateway as a gateway.yaml. Secrets become `${NAME}`, and a comment at the top lists
 * the names. Disabled channels and models are written as comments, because a file cannot express them. Keys
 * have no secrets: applied to an empty database, the file gives them new ones.
 */
export function exportYaml(rows: ExportRows, keeper: SecretKeeper, at: Date): string {
  const variables = new Variables()
  const prices = libraryWords(rows.library)
  const priceOf = new Map(rows.prices.map((price) => [price.modelId, price]))
  const models = rows.models.toSorted(by(({ id }) => id))
  const channels = rows.channels.toSorted(by(({ name }) => name))
  const known = {
    models: new Set(['*', ...models.filter(isEnabled).map(({ id }) => id)]),
    channels: new Set(['*', ...channels.filter(isEnabled).map(({ name }) => name)]),
  }
  const modelOut = (row: (typeof models)[number]) => {
    const fallbacks = row.fallbacks.filter((id) => known.models.has(id))
    return escaped(modelWords({ ...row, fallbacks }, priceOf.get(row.id)))
  }
  const offers = rows.offers.filter(({ modelId }) => known.models.has(modelId))
  const entryOf = (row: (typeof channels)[number]) =>
    channelEntry(row, { ...rows, offers }, keeper, variables)
  const data = {
    ...(prices !== undefined && { prices }),
    models: models.filter(isEnabled).map(modelOut),
    channels: channels.filter(isEnabled).map(entryOf),
    groups: rows.groups
      .filter(({ name }) => name !== ownTenant)
      .toSorted(by(({ name }) => name))
      .map((row) =>
        escaped(
          groupWords({
            ...row,
            models: namesIn(row.models, known.models),
            channels: namesIn(row.channels, known.channels),
          }),
        ),
      ),
    tenants: rows.tenants
      .filter(({ tenant }) => tenant.name !== ownTenant)
      .map(({ tenant, limited, balance }) =>
        escaped({
          ...tenantOut(tenant, limited ? balance : undefined),
          keys: keysOf(rows, tenant.id, known.models),
        }),
      ),
  }
  const disabledModels = models.filter((row) => !isEnabled(row)).map(modelOut)
  const kept = new Set(rows.credentials.map(({ channelId }) => channelId))
  const disabledChannels = channels.filter((row) => !isEnabled(row) && kept.has(row.id)).map(entryOf)
  const text = stringify(data, { lineWidth: 0 })
  const rest = [
    ...comment('Disabled models, which a file cannot contain', 'models', disabledModels),
    ...comment('Disabled channels, which a file cannot contain', 'channels', disabledChannels),
  ]
  return [...headOf(at, variables, data.tenants), text, ...rest].join('\n')
}

function headOf(at: Date, variables: Variables, tenants: readonly Json[]): string[] {
  const keys = tenants.flatMap((tenant) => {
    const names = Array.isArray(tenant.keys) ? tenant.keys : []
    return names.map(({ name }: { name: string }) => `#   ${String(tenant.name)} / ${name}`)
  })
  return [
    `# The state of this gateway at ${at.toISOString()}, as a gateway.yaml.`,
    ...(variables.names.length === 0
      ? []
      : [
          '#',
          '# Set these variables to the secrets, which this file does not contain:',
          ...variables.names.map((name) => `#   ${name}`),
        ]),
    ...(keys.length === 0
      ? []
      : [
          '#',
          '# Key secrets are not stored, so they are not in this file. In this database each key keeps its secret. In an empty one',
          '# each key gets a new secret, unless you add "secret":',
          ...keys,
        ]),
    '',
  ]
}

function channelEntry(
  row: ExportRows['channels'][number],
  rows: ExportRows,
  keeper: SecretKeeper,
  variables: Variables,
): Json {
  const { offers, credentials } = storedChannel(row, rows, keeper)
  const sealed = rows.credentials.filter(({ channelId }) => channelId === row.id)
  const place = row.name.toUpperCase().replace(/[^A-Z0-9]+/g, '_')
  // An empty credential is not a secret. A credential that cannot be decrypted is treated as a secret.
  const api_keys = sealed.map((_, index) =>
    credentials?.[index] === ''
      ? ''
      : variables.add(`${place}_KEY${sealed.length === 1 ? '' : `_${index + 1}`}`),
  )
  const words = escaped(channelOut(row, offers))
  return { ...words, api_keys, ...connectionOf(row, keeper, (name) => variables.add(`${place}_${name}`)) }
}

/**
 * Returns a channel's connection settings. `variable` returns the placeholder for the secret with the given
 * name.
 */
export function connectionOf(
  row: ExportRows['channels'][number],
  keeper: SecretKeeper,
  variable: (name: string) => string,
): Json {
  let connection: ReturnType<typeof openedConnection>
  try {
    connection = openedConnection(row, keeper)
  } catch {
    return {}
  }
  if (connection === undefined) return {}
  const { proxy, key, headers, ...shown } = connection
  const isSecret = proxy !== undefined && new URL(proxy).username + new URL(proxy).password !== ''
  return {
    ...(proxy !== undefined && { proxy: isSecret ? variable('PROXY') : proxy }),
    ...(key !== undefined && { key: variable('CERT_KEY') }),
    ...(headers !== undefined && {
      headers: Object.fromEntries(
        Object.keys(headers).map((name) => [
          name,
          variable(`HEADER_${name.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}`),
        ]),
      ),
    }),
    ...connectionWords(shown),
  }
}

function keysOf(rows: ExportRows, tenantId: string, models: ReadonlySet<string>): Json[] {
  const groups = new Map(rows.groups.map(({ id, name }) => [id, name]))
  return (
    rows.keys
      // Sub-keys are not part of a file, because clients create them through the API.
      .filter((key) => key.tenantId === tenantId && key.parentId === null)
      .map((key) => {
        const allowedModels = key.allowedModels && namesIn(key.allowedModels, models)
        return keyWords({ ...key, allowedModels }, groups.get(key.groupId) ?? 'default')
      })
  )
}

/** Unique names of variables. */
class Variables {
  readonly names: string[] = []

  /** Adds a variable and returns its placeholder. */
  add(wanted: string): string {
    const start = /^[A-Z_]/.test(wanted) ? wanted : `_${wanted}`
    let name = start
    for (let count = 2; this.names.includes(name); count++) name = `${start}_${count}`
    this.names.push(name)
    return `\${${name}}`
  }
}

/** A literal `${` is written as `$${` in the file. */
function escaped(value: Json): Json {
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, escapedValue(part)]))
}

function escapedValue(value: unknown): unknown {
  if (typeof value === 'string') return value.split('${').join('$${')
  if (Array.isArray(value)) return value.map(escapedValue)
  if (typeof value === 'object' && value !== null) return escaped({ ...value })
  return value
}

function comment(title: string, section: string, entries: readonly Json[]): string[] {
  if (entries.length === 0) return []
  const lines = stringify({ [section]: entries }, { lineWidth: 0 })
    .trimEnd()
    .split('\n')
  return [`# ${title}:`, ...lines.map((line) => `# ${line}`), '']
}

/**
 * Removes the names of disabled entries, which a file must not refer to. If no name would be left, the list
 * stays as it is, because a missing list would allow everything.
 */
function namesIn(names: readonly string[], known: ReadonlySet<string>): string[] {
  const left = names.filter((name) => known.has(name))
  return left.length === 0 ? [...names] : left
}

function isEnabled({ disabledAt }: { disabledAt: Date | null }): boolean {
  return disabledAt === null
}

function by<Row>(nameOf: (row: Row) => string) {
  return (a: Row, b: Row) => (nameOf(a) < nameOf(b) ? -1 : 1)
}
