import { z } from 'zod'
import { readBlock } from '../../canonical/address-blocks.ts'
import { boolean, integer, sql, text } from '../drizzle.cjs'
import { authSection } from './auth-settings.ts'
import { connectionSettings } from './connection-settings.ts'
import { formOf } from './form.ts'
import { setting, settingOf } from './setting.ts'
import { blockText, mustBe, plainMembers, wholeNumber } from './values.ts'

const order = 'Order'
const most = 'Limits'
const may = 'What it may do'
const count = wholeNumber(1, 1_000_000).optional()
const shares = ['allow', 'own'] as const

const privateAddress = z
  .union([z.boolean(), z.array(z.string()).min(1)], {
    error: mustBe('true, false or a list of address blocks, such as [10.0.0.0/8]'),
  })
  .transform((allowed, context) => {
    if (typeof allowed === 'boolean') return allowed
    return allowed.map((text, index) => {
      const block = readBlock(text)
      if (block === undefined) context.addIssue({ code: 'custom', path: [index], message: blockText })
      return block ?? text
    })
  })

/**
 * The settings of a channel, besides its name, its upstream (vendor and base URLs), credentials, offers,
 * traits and connection.
 */
export const settingsOfChannels = {
  /** Those of the highest priority are tried first. */
  priority: setting('priority', {
    entry: wholeNumber(-1_000_000, 1_000_000).default(0),
    column: () => integer('priority').notNull().default(0),
    shown: z.int(),
    form: {
      section: order,
      label: 'Priority',
      kind: 'integer',
      about: 'The highest is tried first',
      placeholder: '0',
    },
  }),
  weight: setting('weight', {
    entry: wholeNumber(1, 1_000_000).default(1),
    column: () => integer('weight').notNull().default(1),
    shown: z.int(),
    form: {
      section: order,
      label: 'Weight',
      kind: 'integer',
      about: 'Its share at equal priority',
      placeholder: '1',
    },
  }),
  /** A list of CIDR blocks allows only private addresses within them. */
  allow_private_address: settingOf({
    entry: privateAddress.default(false),
    part: (allowed): { allowPrivateAddress: boolean | readonly string[] } => ({
      allowPrivateAddress: allowed,
    }),
    columns: () => ({
      allowPrivateAddress: boolean('allow_private_address').notNull().default(false),
      /** NULL: all or none, depending on `allowPrivateAddress`. */
      privateAddresses: text('private_addresses').array(),
    }),
    write: ({ allowPrivateAddress: allowed }) => ({
      allowPrivateAddress: allowed === true,
      privateAddresses: typeof allowed === 'boolean' ? null : [...allowed],
    }),
    read: ({ allowPrivateAddress, privateAddresses }) => ({
      allowPrivateAddress: privateAddresses ?? allowPrivateAddress,
    }),
    shown: z.union([z.boolean(), z.array(z.string())]),
    json: ({ allowPrivateAddress: allowed }) => (typeof allowed === 'boolean' ? allowed : [...allowed]),
    form: {
      section: may,
      label: 'Private addresses',
      kind: 'tags',
      isAllOrSome: true,
      about: 'Blocks of your own network that it may call, within PRIVATE_ADDRESSES. *: all. Empty: none',
      placeholder: '10.0.0.0/8',
    },
  }),
  /**
   * Whether requests can refer to objects that the vendor stores. If absent, `allow` if only one tenant
   * reaches the channel, otherwise `own`.
   */
  shared_state: setting('sharedState', {
    entry: z.enum(shares).optional(),
    column: () => text('shared_state', { enum: shares }),
    shown: z
      .enum(shares)
      .nullable()
      .describe('Null means `allow` if only one tenant reaches the channel, otherwise `own`.'),
    form: {
      section: may,
      label: 'Objects stored at the vendor',
      kind: 'choice',
      about: 'Whether requests may name them',
      options: {
        '': 'For a sole tenant (default)',
        allow: 'Yes, tenants share them',
        own: 'No',
      },
    },
  }),
  /** The maximum number of concurrent calls from each process. Absent: half of its IN_FLIGHT_MAX. */
  concurrency: setting('concurrency', {
    entry: count,
    column: () => integer('concurrency'),
    shown: z.int().nullable(),
    form: {
      section: most,
      label: 'Calls at once, a process',
      kind: 'integer',
      about: 'Empty: half of IN_FLIGHT_MAX',
    },
  }),
  /** The maximum number of images at once and per minute, from all processes together. Absent: unlimited. */
  images: settingOf({
    entry: z.strictObject({ concurrency: count, per_minute: count }).default({}),
    part: (of) => ({ imageConcurrency: of.concurrency, imagesPerMinute: of.per_minute }),
    columns: () => ({
      imageConcurrency: integer('image_concurrency'),
      imagesPerMinute: integer('images_per_minute'),
    }),
    write: ({ imageConcurrency = null, imagesPerMinute = null }) => ({ imageConcurrency, imagesPerMinute }),
    read: ({ imageConcurrency, imagesPerMinute }) => ({
      imageConcurrency: imageConcurrency ?? undefined,
      imagesPerMinute: imagesPerMinute ?? undefined,
    }),
    shown: z.object({ concurrency: z.int().nullable(), per_minute: z.int().nullable() }),
    json: ({ imageConcurrency = null, imagesPerMinute = null }) => ({
      concurrency: imageConcurrency,
      per_minute: imagesPerMinute,
    }),
    form: {
      concurrency: {
        section: most,
        label: 'Image jobs at once',
        kind: 'integer',
        about: 'Of all processes. Empty: no limit',
      },
      per_minute: {
        section: most,
        label: 'Image jobs a minute',
        kind: 'integer',
        about: 'Of all processes. Empty: no limit',
      },
    },
  }),
  plain_members: setting('plainMembers', {
    entry: plainMembers,
    column: () => text('plain_members').array().notNull().default(sql`'{}'`),
    shown: z
      .array(z.string())
      .describe('Request members for which the vendor adds no input beyond what the body contains.'),
    form: {
      section: may,
      label: 'Plain members',
      kind: 'tags',
      about: 'Members of requests for which the vendor adds no input, as a refusal names them',
    },
  }),
}

export const channelForm = formOf({ ...settingsOfChannels, ...connectionSettings }, [
  { title: 'Where it leads' },
  { title: order },
  { title: most },
  { title: may },
  authSection,
  { title: 'How it is called' },
  { title: 'Timeouts, ms', about: 'Empty: those of the process, which are also the longest.' },
  { title: 'Certificates' },
])
