import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { checked } from '../../canonical/checked.ts'
import { rowsToChange } from '../../catalog/change-entries.ts'
import { pricesEntry } from '../../catalog/gateway-file.ts'
import { libraryWords, setLibrary } from '../../catalog/library/admin-library.ts'
import { readPriceLibrary } from '../../catalog/library/library-queries.ts'
import { type Config, readConfig, variableOf } from '../../config/config.ts'
import type { Database } from '../../db/database.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { etagOf } from './etag.ts'
import { type ManagedContext, refuseManaged } from './managed.ts'

export interface AdminSettingsContext extends ManagedContext {
  database: Pick<Database, 'admin' | 'reads'>
  config: Config
}

const prices = z
  .object({
    value: z
      .unknown()
      .describe('The `prices` setting, as in gateway.yaml. Null if library prices are not used.'),
    managed_by: z.enum(['file', 'admin']).nullable(),
    version: z.string().nullable().describe('The version of the package from which the data comes.'),
    renewed_at: z.iso.datetime().nullable(),
  })
  .describe('The setting for library prices, which can be changed here.')

const settings = z
  .object({
    prices,
    environment: z
      .array(
        z.object({
          name: z.string(),
          value: z.unknown().describe('Null if the setting is not set, and for secrets.'),
          default: z.unknown(),
          from: z
            .enum(['environment', 'default'])
            .describe('`environment`: the value differs from the default.'),
          is_secret: z.boolean(),
          is_set: z.boolean(),
        }),
      )
      .describe('The settings and bounds of the process that responds. Changing them requires a restart.'),
  })
  .meta({ id: 'Settings' })

const settingsPatch = z
  .strictObject({
    prices: z
      .unknown()
      .describe(
        'As in gateway.yaml: "library", or a map with renew and renew_from. Null to use no library prices.',
      ),
  })
  .meta({ id: 'SettingsPatch' })

const secrets: ReadonlySet<string> = new Set([
  'secretKey',
  'secretKeyPrevious',
  'adminToken',
  'oidcClientSecret',
  's3AccessKeyId',
  's3SecretAccessKey',
  'otelExporterOtlpHeaders',
  'otelExporterOtlpTracesHeaders',
])

/** Settings of the whole gateway. */
export function settingsEndpoints(context: AdminSettingsContext): AdminEndpoint[] {
  const { database, config } = context
  const environment = environmentOf(config)
  return [
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/settings',
      area: 'settings',
      summary: 'Get all settings and bounds, without secrets',
      answer: settings,
      async handle() {
        const state = await database.reads.ask(({ db }) => readPriceLibrary(db))
        const shown = pricesJson(state)
        return { body: { prices: shown, environment }, etag: settingsEtag(shown) }
      },
    }),
    adminChange({
      method: 'PATCH',
      path: '/admin/v1/settings',
      area: 'settings',
      ifMatch: 'settings',
      summary: 'Update the settings that can be changed at runtime',
      body: settingsPatch,
      answer: settings,
      async change({ tx, body, requireMatch, audit }) {
        const rows = await rowsToChange(tx)
        const state = await readPriceLibrary(tx)
        if (state !== undefined) await refuseManaged(tx, context, state, { kind: 'prices' })
        const before = pricesJson(state)
        requireMatch(settingsEtag(before))
        const { prices: wanted } = body
        if (wanted !== undefined) {
          const entry = z.strictObject({ prices: pricesEntry.nullable() })
          await setLibrary(tx, rows, checked(entry, { prices: wanted }).prices ?? undefined)
        }
        const after = pricesJson(await readPriceLibrary(tx))
        await audit({
          action: 'settings.change',
          resource: 'settings',
          id: 'settings',
          before: { prices: before },
          after: { prices: after },
        })
        return { body: { prices: after, environment }, etag: settingsEtag(after) }
      },
    }),
  ]
}

function pricesJson(state: Awaited<ReturnType<typeof readPriceLibrary>>): z.output<typeof prices> {
  return {
    value: libraryWords(state) ?? null,
    managed_by: state?.managedBy ?? null,
    version: state?.version ?? null,
    renewed_at: state?.renewedAt?.toISOString() ?? null,
  }
}

/** Ignores the other members, because a renewal of the library changes no setting. */
function settingsEtag({ value, managed_by }: z.output<typeof prices>): string {
  return etagOf({ value, managed_by })
}

function environmentOf({ bounds, ...config }: Config): z.output<typeof settings>['environment'] {
  const { bounds: defaultBounds, ...defaults } = readConfig({})
  const ofDefault = new Map<string, unknown>([...Object.entries(defaults), ...Object.entries(defaultBounds)])
  return [...Object.entries(config), ...Object.entries(bounds)]
    .map(([name, value]) => {
      const isSecret = secrets.has(name)
      const fallback = ofDefault.get(name)
      return {
        name: variableOf(name),
        value: isSecret || value === undefined ? null : withoutCredentials(value),
        default: fallback ?? null,
        from: isDeepStrictEqual(value, fallback) ? ('default' as const) : ('environment' as const),
        is_secret: isSecret,
        is_set: value !== undefined,
      }
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** A URL can contain a user and a password, or a token in its query. */
function withoutCredentials(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\w+:\/\//.test(value)) return value
  if (!URL.canParse(value)) return '***'
  const url = new URL(value)
  return `${url.protocol}//${url.username + url.password === '' ? '' : '***@'}${url.host}${url.pathname}`
}
