import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import type { ImageTraits } from '../canonical/image.ts'
import { protocolNames } from '../protocols/protocol.ts'
import type { ImageRate } from './snapshot.ts'
import { nanoFromUsd } from './usd.ts'

/** What gateway.yaml says, checked and in our own names. Money is nano-USD; absent settings have their defaults. */
export interface GatewayFile {
  models: ModelEntry[]
  channels: ChannelEntry[]
  groups: GroupEntry[]
  tenants: TenantEntry[]
}

export type ModelEntry = z.output<typeof modelEntry>
export type ChannelEntry = z.output<typeof channelEntry>
export type GroupEntry = z.output<typeof groupEntry>
export type TenantEntry = z.output<typeof tenantEntry>
export type KeyEntry = TenantEntry['keys'][number]

/** Prefix of every message: what is wrong is said as what the setting must be. */
const mustBe = (what: string) => `must be ${what}`

const name = (charactersMax: number) =>
  z
    .string()
    .max(charactersMax)
    .regex(/^[^\p{C}]+$/u, mustBe(`a name of 1 to ${charactersMax} visible characters`))

const wholeNumber = (least: number, most: number) => z.int().min(least).max(most)

/** Decimals are best quoted; numbers are taken too, as written. */
const decimalText = z
  .union([z.string(), z.number()], { error: mustBe('a decimal, such as "2.50"') })
  .transform(String)

const usd = decimalText.transform((text, context) => {
  const amount = nanoFromUsd(text)
  if (amount !== undefined) return amount
  const message = mustBe('USD as a plain decimal with at most 9 decimals, such as "2.50"')
  context.addIssue({ code: 'custom', message })
  return z.NEVER
})

const multiplier = decimalText.refine((text) => /^\d{1,4}(\.\d{1,9})?$/.test(text), {
  error: mustBe('a decimal from 0 to 9999 with at most 9 decimals, such as "1.2"'),
})

/** A size, a quality or the like, as clients write it. */
const imageWord = name(64)

const madeIn = imageWord.refine((word) => word !== 'auto', {
  error: mustBe('one that images are made in; "auto" costs what comes of it'),
})

const imageRate = z
  .strictObject({ size: madeIn.optional(), quality: madeIn.optional(), usd })
  .refine(({ size, quality }) => size !== undefined || quality !== undefined, {
    error: mustBe('for a size, a quality or both; the price of all other images is "image"'),
  })
  .transform(({ size, quality, usd }): ImageRate => ({ size, quality, nano: usd }))

const imageRates = z
  .array(imageRate)
  .max(100, mustBe('a list of at most 100 prices'))
  .superRefine((rates, context) => {
    const seen = new Map<string, number>()
    for (const [index, { size, quality }] of rates.entries()) {
      const pair = JSON.stringify([size, quality])
      const first = seen.get(pair)
      if (first === undefined) seen.set(pair, index)
      else {
        const message = `is for the same size and quality as images[${first}]`
        context.addIssue({ code: 'custom', path: [index], message })
      }
    }
  })

const price = z
  .strictObject({
    input: usd.optional(),
    cache_read: usd.optional(),
    cache_write: usd.optional(),
    output: usd.optional(),
    reasoning: usd.optional(),
    image: usd.optional(),
    images: imageRates.default([]),
  })
  .transform((p) => ({
    input: p.input,
    cacheRead: p.cache_read,
    cacheWrite: p.cache_write,
    output: p.output,
    reasoning: p.reasoning,
    image: p.image,
    imageRates: p.images,
  }))

const imageWords = z.array(imageWord).min(1)

/** Settings that are absent stay absent: what is compared with rows must look as they do. */
const imageTraits = z
  .strictObject({
    sizes: imageWords.exactOptional(),
    qualities: imageWords.exactOptional(),
    styles: imageWords.exactOptional(),
    backgrounds: imageWords.exactOptional(),
    output_formats: imageWords.exactOptional(),
    images_max: wholeNumber(1, 10).optional(),
    partial_images_max: wholeNumber(0, 3).optional(),
    prompt_characters_max: wholeNumber(1, 2_147_483_647).optional(),
  })
  .transform(
    ({ output_formats, images_max, partial_images_max, prompt_characters_max, ...lists }): ImageTraits => ({
      ...lists,
      ...(output_formats !== undefined && { outputFormats: output_formats }),
      ...(images_max !== undefined && { imagesMax: images_max }),
      ...(partial_images_max !== undefined && { partialImagesMax: partial_images_max }),
      ...(prompt_characters_max !== undefined && { promptCharactersMax: prompt_characters_max }),
    }),
  )

const tokenCount = wholeNumber(1, 2_147_483_647)

export const modelEntry = z
  .strictObject({
    id: name(256),
    context_length: tokenCount.optional(),
    max_output_tokens: tokenCount.optional(),
    price: price.optional(),
    images: imageTraits.optional(),
  })
  .transform((m) => ({
    id: m.id,
    contextLength: m.context_length,
    maxOutputTokens: m.max_output_tokens,
    price: m.price,
    images: m.images,
  }))

/** Trailing slashes are dropped: a path that begins with one is appended. */
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

const upstreamModels = z
  .union([z.literal('*'), z.array(name(256)), z.record(name(256), name(256))], {
    error: mustBe('a map from model to upstream name, a list of model names, or "*"'),
  })
  .transform((models) => {
    if (models === '*') return [{ model: '*', upstreamModel: '*' }]
    if (Array.isArray(models)) return models.map((model) => ({ model, upstreamModel: model }))
    return Object.entries(models).map(([model, upstreamModel]) => ({ model, upstreamModel }))
  })
  .refine((offers) => new Set(offers.map((offer) => offer.model)).size === offers.length, {
    error: 'must not name a model twice',
  })

const imageBound = wholeNumber(1, 1_000_000).optional()

export const channelEntry = z
  .strictObject({
    name: name(128).refine((text) => text !== '*', { error: mustBe('a name; "*" stands for all channels') }),
    protocols: z
      .partialRecord(z.enum(protocolNames), baseUrl)
      .refine((urls) => Object.keys(urls).length > 0, { error: mustBe('a map with one protocol or more') }),
    api_keys: z
      .array(z.string().regex(/^[\x20-\x7e]{0,8192}$/, mustBe('at most 8192 visible ASCII characters')))
      .min(1),
    models: upstreamModels,
    priority: wholeNumber(-1_000_000, 1_000_000).default(0),
    weight: wholeNumber(1, 1_000_000).default(1),
    allow_private_address: z.boolean().default(false),
    images: z.strictObject({ concurrency: imageBound, per_minute: imageBound }).default({}),
  })
  .transform((c) => ({
    name: c.name,
    protocols: c.protocols,
    credentials: c.api_keys,
    offers: c.models,
    priority: c.priority,
    weight: c.weight,
    allowPrivateAddress: c.allow_private_address,
    imageConcurrency: c.images.concurrency,
    imagesPerMinute: c.images.per_minute,
  }))

const names = z.array(name(256)).min(1)
const bound = wholeNumber(1, 2_147_483_647).optional()

export const groupEntry = z
  .strictObject({
    name: name(128),
    models: names.default(['*']),
    channels: names.default(['*']),
    price_multiplier: multiplier.default('1'),
    image_priority: wholeNumber(0, 100).default(0),
    client_gone: z
      .strictObject({
        policy: z.enum(['drain', 'abort']).default('drain'),
        seconds: wholeNumber(0, 3600).default(30),
      })
      .default({ policy: 'drain', seconds: 30 }),
    limits: z
      .strictObject({ requests_per_minute: bound, tokens_per_minute: bound, concurrency: bound })
      .default({}),
  })
  .transform((g) => ({
    name: g.name,
    models: g.models,
    channels: g.channels,
    priceMultiplier: g.price_multiplier,
    imagePriority: g.image_priority,
    clientGone: g.client_gone,
    limits: {
      requestsPerMinute: g.limits.requests_per_minute,
      tokensPerMinute: g.limits.tokens_per_minute,
      concurrency: g.limits.concurrency,
    },
  }))

const cidr = z.string().transform((text, context) => {
  if (ipaddr.isValidCIDR(text)) return text
  if (ipaddr.isValid(text)) return `${text}/${ipaddr.parse(text).kind() === 'ipv4' ? 32 : 128}`
  context.addIssue({ code: 'custom', message: mustBe('an address block, such as 10.0.0.0/8') })
  return z.NEVER
})

const expiry = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], {
    error: mustBe('a date or a time with its zone, such as 2027-01-31 or 2027-01-31T12:00:00Z'),
  })
  .transform((text) => new Date(text))

const keyEntry = z
  .strictObject({
    name: name(128),
    group: name(128).default('default'),
    secret: z
      .string()
      .regex(/^[\x21-\x7e]{16,512}$/, mustBe('16 to 512 visible ASCII characters without spaces'))
      .optional(),
    capture: z.enum(['none', 'shape', 'content']).default('content'),
    usage_scope: z.enum(['tenant', 'key']).default('tenant'),
    strict: z.boolean().default(false),
    expires_at: expiry.optional(),
    disabled: z.boolean().default(false),
    allowed_models: names.optional(),
    allowed_cidrs: z.array(cidr).min(1).optional(),
  })
  .transform((k) => ({
    name: k.name,
    group: k.group,
    secret: k.secret,
    capture: k.capture,
    usageScope: k.usage_scope,
    strict: k.strict,
    expiresAt: k.expires_at,
    disabled: k.disabled,
    allowedModels: k.allowed_models,
    allowedCidrs: k.allowed_cidrs,
  }))

export const tenantEntry = z
  .strictObject({ name: name(128), balance_usd: usd.optional(), keys: z.array(keyEntry).default([]) })
  .transform((t) => ({ name: t.name, balance: t.balance_usd, keys: t.keys }))
