import { z } from 'zod'
import { settingsOfChannels } from '../db/settings/channel-settings.ts'
import { settingsOfGroups } from '../db/settings/group-settings.ts'
import { settingsOfKeys } from '../db/settings/key-settings.ts'
import { membersOf, valuesOf } from '../db/settings/setting.ts'
import { settingsOfTenants } from '../db/settings/tenant-settings.ts'
import { mustBe, name, usd, wholeNumber } from '../db/settings/values.ts'
import { protocolNames } from '../protocols/protocol.ts'
import { awsScopeOf } from './aws-credentials.ts'
import type { ConnectionEntry } from './channel-connection.ts'
import { type ChannelPlace, protocolsOf } from './channel-protocols.ts'
import { type ConnectionDraft, connectionDraft, connectionEntry } from './connection-entry.ts'
import type { LibrarySetting } from './library/apply-library.ts'
import type { modelEntry } from './model-entry.ts'
import { traitEntry } from './trait-entry.ts'
import { vendorNames } from './traits/vendors.ts'

/**
 * A checked gateway.yaml, with our own property names. Money is in nano-USD; absent settings have their
 * defaults.
 */
export interface GatewayFile {
  /** Of two files the one with the higher number is in force. Undefined if the file has no revision. */
  revision: number | undefined
  /** The source of prices that the file does not contain. If absent, there is none. */
  prices?: LibrarySetting
  models: ModelEntry[]
  channels: ChannelEntry[]
  groups: GroupEntry[]
  tenants: TenantEntry[]
}

export type ModelEntry = z.output<typeof modelEntry>
/** A channel entry whose files have been read. */
export type ChannelEntry = Omit<z.output<typeof channelEntry>, 'connection'> & {
  connection?: ConnectionEntry
}
export type GroupEntry = z.output<typeof groupEntry>
export type TenantEntry = z.output<typeof tenantEntry>
export type KeyEntry = TenantEntry['keys'][number]

/** Returns whether a group, tenant or key of the file has a budget. */
export function hasBudgets({ groups, tenants }: Pick<GatewayFile, 'groups' | 'tenants'>): boolean {
  const owners = [...groups, ...tenants, ...tenants.flatMap(({ keys }) => keys)]
  return owners.some(({ budget }) => budget !== undefined)
}

/** Without trailing slashes, because every appended path begins with one. */
const baseUrl = z.string().transform((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.username + url.password + url.search + url.hash === ''
  ) {
    return text.replace(/\/+$/, '')
  }
  const message = mustBe('an http:// or https:// URL without credentials, query or fragment')
  context.addIssue({ code: 'custom', message })
  return z.NEVER
})

/** An upstream model name, or a map if the offer has its own traits. */
const upstreamOffer = z.union([
  name(256).transform((upstreamModel) => ({ upstreamModel, traits: undefined })),
  z
    .strictObject({ upstream: name(256), traits: traitEntry })
    .transform(({ upstream, traits }) => ({ upstreamModel: upstream, traits })),
])

const upstreamModels = z
  .union([z.literal('*'), z.array(name(256)), z.record(name(256), upstreamOffer)], {
    error: mustBe('a map from model to upstream name, a list of model names, or "*"'),
  })
  .transform((models) => {
    const traits = undefined
    if (models === '*') return [{ model: '*', upstreamModel: '*', traits }]
    if (Array.isArray(models)) return models.map((model) => ({ model, upstreamModel: model, traits }))
    return Object.entries(models).map(([model, offer]) => ({ model, ...offer }))
  })
  .refine((offers) => new Set(offers.map((offer) => offer.model)).size === offers.length, {
    error: 'must not name a model twice',
  })

export const revision = wholeNumber(1, Number.MAX_SAFE_INTEGER)

/** The address at which the library's own project publishes its data. */
const dataUrl = 'https://raw.githubusercontent.com/pydantic/genai-prices/main/prices/new_data/v2/data.json'

export const pricesEntry = z
  .union(
    [
      z.literal('library'),
      z.strictObject({
        library: z.literal(true),
        renew: z.literal('daily').optional(),
        renew_from: baseUrl.optional(),
      }),
    ],
    { error: mustBe('"library", or a map with "library: true"') },
  )
  .transform((entry): LibrarySetting => {
    const daily = entry !== 'library' && entry.renew === 'daily'
    return { renewUrl: daily ? (entry.renew_from ?? dataUrl) : undefined }
  })

export const channelEntry = z
  .strictObject({
    name: name(128).refine((text) => text !== '*', { error: mustBe('a name; "*" means all channels') }),
    protocols: z
      .partialRecord(z.enum(protocolNames), baseUrl)
      .refine((urls) => Object.keys(urls).length > 0, { error: mustBe('a map with at least one protocol') })
      .optional(),
    base_url: baseUrl.optional(),
    api_keys: z
      .array(z.string().regex(/^[\x20-\x7e]{0,8192}$/, mustBe('at most 8192 visible ASCII characters')))
      .min(1)
      .optional(),
    models: upstreamModels,
    vendor: z.enum(vendorNames).optional(),
    traits: traitEntry.optional(),
    ...membersOf(settingsOfChannels, 'entry'),
    ...connectionEntry,
  })
  .refine((c) => typeof protocolsOf(c) !== 'string', {
    path: ['protocols'],
    error: ({ input }) => String(protocolsOf(input as ChannelPlace)),
    when: isMap,
  })
  .refine((c) => c.protocols === undefined || c.base_url === undefined, {
    path: ['base_url'],
    error: 'cannot be combined with "protocols"',
  })
  .refine((c) => c.api_keys !== undefined || c.auth?.kind === 'sigv4', {
    path: ['api_keys'],
    error: 'is missing',
    when: isMap,
  })
  .superRefine((c, context) => {
    const { auth } = c
    if (auth?.kind !== 'sigv4') return
    for (const [protocol, url] of Object.entries(placed(c))) {
      if (awsScopeOf(auth, url) !== undefined) continue
      const lacks = awsScopeOf({ region: 'any', ...auth }, url) === undefined ? 'service' : 'region'
      const message = `is missing: the host of the base URL of ${protocol} does not say it`
      context.addIssue({ code: 'custom', path: ['auth', lacks], message })
    }
  })
  .refine((c) => c.websocket !== true || placed(c)['openai-responses'] !== undefined, {
    path: ['websocket'],
    error: 'requires "openai-responses" among the protocols, because no other protocol supports WebSocket',
  })
  .transform((c) => ({
    name: c.name,
    protocols: placed(c),
    // Without keys, requests are signed with the identity of the machine.
    credentials: c.api_keys ?? [''],
    offers: c.models,
    vendor: c.vendor,
    traits: c.traits,
    ...valuesOf(settingsOfChannels, c),
    ...connected(c),
  }))

/** Runs the check even if other settings are invalid, so that all problems are reported together. */
function isMap({ value }: { value: unknown }): boolean {
  return typeof value === 'object' && value !== null
}

function placed(channel: ChannelPlace): Exclude<ReturnType<typeof protocolsOf>, string> {
  const protocols = protocolsOf(channel)
  return typeof protocols === 'string' ? {} : protocols
}

function connected(settings: Parameters<typeof connectionDraft>[0]): { connection?: ConnectionDraft } {
  const connection = connectionDraft(settings)
  return connection === undefined ? {} : { connection }
}

/** The settings of a group, in the vocabulary of gateway.yaml. */
export const groupSettings = z.strictObject({ name: name(128), ...membersOf(settingsOfGroups, 'entry') })
export const groupEntry = groupSettings.transform(({ name, ...settings }) => ({
  name,
  ...valuesOf(settingsOfGroups, settings),
}))

/** The settings of a key, in the vocabulary of gateway.yaml. */
export const keySettings = z.strictObject({
  name: name(128),
  group: name(128).default('default'),
  secret: z
    .string()
    .regex(/^[\x21-\x7e]{16,512}$/, mustBe('16 to 512 visible ASCII characters without spaces'))
    .optional(),
  ...membersOf(settingsOfKeys, 'entry'),
})
export const keyEntry = keySettings
  .refine((k) => k.capture_answers !== true || k.capture === 'content', {
    path: ['capture_answers'],
    error: 'requires "capture: content"',
    when: isMap,
  })
  .transform(({ name, group, secret, ...settings }) => ({
    name,
    group,
    secret,
    ...valuesOf(settingsOfKeys, settings),
  }))

/** The settings of a tenant, in the vocabulary of gateway.yaml. */
export const tenantSettings = z.strictObject({
  name: name(128),
  balance_usd: usd.optional(),
  ...membersOf(settingsOfTenants, 'entry'),
  keys: z.array(keyEntry).default([]),
})
export const tenantEntry = tenantSettings.transform(({ name, balance_usd, keys, ...settings }) => ({
  name,
  balance: balance_usd,
  keys,
  ...valuesOf(settingsOfTenants, settings),
}))
