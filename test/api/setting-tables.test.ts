import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { groupWords, keyWords, tenantOut } from '../../src/access/access-out.ts'
import { readExportRows } from '../../src/access/export-queries.ts'
import { readNamedKey } from '../../src/access/named-key-queries.ts'
import { channelOut, modelWords } from '../../src/catalog/entry-out.ts'
import { settingsOfChannels } from '../../src/db/settings/channel-settings.ts'
import { connectionSettings } from '../../src/db/settings/connection-settings.ts'
import { forms } from '../../src/db/settings/forms.ts'
import { settingsOfGroups } from '../../src/db/settings/group-settings.ts'
import { settingsOfKeys, settingsOfParents } from '../../src/db/settings/key-settings.ts'
import { settingsOfModels } from '../../src/db/settings/model-settings.ts'
import { defaultsOf, type SettingTable } from '../../src/db/settings/setting.ts'
import { settingsOfTenants } from '../../src/db/settings/tenant-settings.ts'
import { documentWithoutGateway } from '../openapi-client/document.ts'
import { gatewayYaml } from '../support/gateway-yaml.ts'
import { adminToken, operatorClient } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'

// Walks the tables: a new setting whose values follow from its schema needs nothing here.

const tables = {
  key: {
    table: settingsOfKeys as SettingTable,
    path: 'keys',
    rest: { tenant: 'free' },
    schemas: ['NewKey', 'KeyChange', 'Key'],
  },
  group: {
    table: settingsOfGroups as SettingTable,
    path: 'groups',
    rest: {},
    schemas: ['NewGroup', 'GroupChange', 'Group'],
  },
  tenant: {
    table: settingsOfTenants as SettingTable,
    path: 'tenants',
    rest: {},
    schemas: ['NewTenant', 'TenantChange', 'Tenant'],
  },
  channel: {
    table: settingsOfChannels as SettingTable,
    path: 'channels',
    rest: { protocols: { 'openai-chat': 'https://api.example' }, api_keys: [''], models: ['main'] },
    schemas: ['ChannelRequest', 'ChannelPatch', 'Channel'],
  },
  model: {
    table: settingsOfModels as SettingTable,
    path: 'models',
    rest: {},
    schemas: ['ModelRequest', 'ModelPatch', 'AdminModel'],
  },
} as const
type Resource = keyof typeof tables
/** A model has its name as its id, which cannot be changed. */
const called = (resource: Resource, name: string) => (resource === 'model' ? { id: name } : { name })

/** A value that is not the default, one outside the bounds, and the path of the latter. */
interface Case {
  value: unknown
  wrong: unknown
  at?: string
}

const bounds = {
  value: { requests_per_minute: 5, concurrency: 2 },
  wrong: { concurrency: 0 },
  at: 'concurrency',
}
/** Of settings whose values do not follow from their schemas. */
const stated: Readonly<Record<string, Case>> = {
  responses: { value: { store: true, days: 7 }, wrong: { store: true, days: 366 }, at: 'days' },
  expires_at: { value: '2999-01-31T00:00:00.000Z', wrong: 'tomorrow' },
  allowed_models: { value: ['main'], wrong: [] },
  allowed_cidrs: { value: ['10.0.0.0/8'], wrong: ['10.0.0.0/99'], at: '0' },
  limits: bounds,
  total_limits: bounds,
  budget: { value: { day: '1.5', total: '9' }, wrong: { day: '-1' }, at: 'day' },
  description: { value: 'for people', wrong: 'x'.repeat(1_001) },
  models: { value: ['main'], wrong: [] },
  channels: { value: ['scripted'], wrong: [] },
  price_multiplier: { value: '1.2', wrong: '1.0000000001' },
  client_gone: { value: { policy: 'abort', seconds: 7 }, wrong: { seconds: 3_601 }, at: 'seconds' },
  allow_private_address: { value: ['10.0.0.0/8'], wrong: ['10.0.0.0/99'], at: '0' },
  'images of a channel': { value: { concurrency: 2 }, wrong: { per_minute: 0 }, at: 'per_minute' },
  'images of a model': { value: { sizes: ['1x1'] }, wrong: { images_max: 11 }, at: 'images_max' },
  fallbacks: { value: ['main'], wrong: ['nothing'], at: '0' },
  plain_members: { value: ['messages[].file_url'], wrong: ['twice', 'twice'] },
  retention: { value: { rows_days: 7 }, wrong: { bodies_days: 0 }, at: 'bodies_days' },
}

/** Makes a case from the schema of a setting. */
function caseOf(name: string, entry: z.ZodType, resource?: Resource): Case {
  const known = stated[name] ?? stated[`${name} of a ${resource}`]
  if (known !== undefined) return known
  const { type, enum: words, minimum, maximum, default: usual } = z.toJSONSchema(entry, { io: 'input' })
  if (words !== undefined) return { value: words.find((word) => word !== usual), wrong: 'unheard of' }
  if (type === 'boolean') return { value: usual !== true, wrong: 'yes' }
  if (type === 'integer') return { value: Number(minimum) + 1, wrong: Number(maximum) + 1 }
  throw new Error(`the case of ${name} does not follow from its schema: state it`)
}

const cases = Object.entries(tables).flatMap(([resource, { table }]) =>
  Object.entries(table)
    // An alias is of one model, so two of these tests cannot both write it.
    .filter(([name]) => name !== 'aliases')
    .map(([name, { entry }]) => ({
      resource: resource as Resource,
      name,
      ...caseOf(name, entry, resource as Resource),
    })),
)
const nameOf = (resource: string, setting: string) => `${resource} with ${setting}`

/** A gateway.yaml with a resource for each setting, which states only that setting. */
function yamlOf(upstreamUrl: string): string {
  const file = parse(gatewayYaml(upstreamUrl))
  for (const { resource, name: setting, value } of cases) {
    const { rest } = tables[resource]
    const entry = {
      ...rest,
      tenant: undefined,
      ...called(resource, nameOf(resource, setting)),
      [setting]: value,
    }
    if (resource === 'key') file.tenants[0].keys.push(entry)
    else file[`${resource}s`].push(entry)
  }
  return JSON.stringify(file)
}

let bed: Testbed
let admin: ReturnType<typeof operatorClient>
beforeAll(async () => {
  bed = await startTestbed({
    yaml: yamlOf,
    env: { ADMIN_TOKEN: adminToken, PRIVATE_ADDRESSES: '10.0.0.0/8' },
  })
  admin = operatorClient(`http://127.0.0.1:${bed.tollgate.port}`)
})
afterAll(() => bed?.close())

const { components } = JSON.parse(documentWithoutGateway())

describe.each(cases)('$name of a $resource', ({ resource, name, value, wrong, at }) => {
  const { path, rest, schemas } = tables[resource]
  const shown = typeof value === 'object' && !Array.isArray(value) ? expect.objectContaining(value) : value
  const post = (settings: object) =>
    admin('POST', path, { ...rest, ...called(resource, `${resource} by API, ${name}`), ...settings })

  test('is written by the API, read back, kept by a change of another, and put back to its default', async () => {
    const plain = await admin('POST', path, {
      ...rest,
      ...called(resource, `plain ${resource}, ${name}`),
    })
    const made = await post({ [name]: value })
    expect(made.status, made.text).toBe(201)
    expect(made.body[name]).toEqual(shown)
    expect(made.body[name]).not.toEqual(plain.body[name])
    const own = `${path}/${encodeURIComponent(String(made.body.id))}`
    const { body } = await admin('GET', own)
    expect(body[name]).toEqual(made.body[name])
    const another =
      resource === 'model' ? { traits: { tools: true } } : { name: `${resource}, ${name}, renamed` }
    const changed = await admin('PATCH', own, another)
    expect(changed.status, changed.text).toBe(200)
    expect(changed.body[name]).toEqual(made.body[name])
    const reset = await admin('PATCH', own, { [name]: null })
    expect(reset.body[name]).toEqual(plain.body[name])
  })

  test('is refused outside its bounds, by its name', async () => {
    const refused = await post({ ...called(resource, 'refused'), [name]: wrong })
    expect(refused).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: `#/${[name, at].filter((part) => part !== undefined).join('/')}` }] },
    })
  })

  test('is written by gateway.yaml and exported as it was written, and only if it is not the default', async () => {
    const rows = await bed.tollgate.context.database.reads.ask(({ db }) => readExportRows(db))
    const words = {
      key: rows.keys.map((row) => keyWords(row, 'default')),
      group: rows.groups.map((row) => groupWords(row)),
      tenant: rows.tenants.map(({ tenant }) => tenantOut(tenant, undefined)),
      channel: rows.channels.map((row) => channelOut(row, [])),
      model: rows.models.map((row) => modelWords(row, undefined)),
    }[resource]
    const find = (setting: string) => words.find((one) => (one.name ?? one.id) === nameOf(resource, setting))
    const entry = find(name)
    expect(entry?.[name]).toEqual(value)
    const others = Object.keys(tables[resource].table).filter((one) => one !== name)
    const other = others.map(find).find((one) => one !== undefined)
    expect(other).toBeDefined()
    // Groups always state these, for their readers.
    if (!['models', 'channels', 'client_gone'].includes(name)) expect(other).not.toHaveProperty([name])
  })

  test('is in the OpenAPI document, in the bodies and in the answer', () => {
    for (const schema of schemas) expect(components.schemas[schema].properties, schema).toHaveProperty([name])
  })

  test('is in the JSON of the form, and among its fields unless it has its own button', () => {
    const { names, sections } = forms[resource]
    expect(names).toContain(name)
    const paths = sections.flatMap(({ fields }) => fields.map((field) => field.path.split('.')[0]))
    if (name !== 'disabled') expect(paths).toContain(name)
  })
})

describe.each(Object.keys(settingsOfParents))('%s of a sub-key', (name) => {
  test('is that of its parent, and cannot be changed on its own', async () => {
    const { value } = caseOf(name, (settingsOfKeys as SettingTable)[name]?.entry ?? z.unknown())
    const parent = await admin('POST', 'keys', { tenant: 'free', name: `parent, ${name}`, sub_keys: 1 })
    // The key's own request is refused until its process has seen it.
    const made = await until(async () => {
      const answer = await fetch(`http://127.0.0.1:${bed.tollgate.port}/v1/keys`, {
        method: 'POST',
        headers: { authorization: `Bearer ${parent.body.secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: `child, ${name}` }),
      })
      return answer.status === 201 ? answer : undefined
    })
    const { id } = (await made.json()) as { id: string }
    await admin('PATCH', `keys/${parent.body.id}`, { [name]: value })
    expect((await admin('GET', `keys/${id}`)).body[name]).toEqual(value)
    const identityOf = (of: unknown) =>
      bed.tollgate.context.database.reads.ask(({ db }) => readNamedKey(db, { id: String(of) }, undefined))
    const [own, child] = [await identityOf(parent.body.id), await identityOf(id)]
    const read = Object.keys(defaultsOf(settingsOfParents))
    for (const part of read) expect(Object(child)[part]).toEqual(Object(own)[part])
    const refused = await admin('PATCH', `keys/${id}`, { [name]: value })
    expect(refused).toMatchObject({ status: 409, body: { errors: [{ pointer: `#/${name}` }] } })
  })
})

test('what determines how a channel is reached is in the JSON of its form, and among its fields', () => {
  const { names, sections } = forms.channel
  const paths = sections.flatMap(({ fields }) => fields.map(({ path }) => path.split('.')[0]))
  expect(names).toEqual(expect.arrayContaining(Object.keys(connectionSettings)))
  expect(paths).toEqual(expect.arrayContaining(Object.keys(connectionSettings)))
})

test('what a key and its group both have, a key leaves to its group unless it states it', () => {
  const [key, group] = [defaultsOf(settingsOfKeys), defaultsOf(settingsOfGroups)]
  const both = Object.keys(key).filter((part) => part in group && part !== 'budget')
  expect(both).toEqual(expect.arrayContaining(['captureAnswers', 'keptDays', 'limits']))
  for (const part of both) expect(Object(key)[part], part).toBeUndefined()
})
