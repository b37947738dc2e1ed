import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { apiEndpoints } from '../../src/api/endpoints.ts'
import { isRecord, type Json } from '../../src/canonical/json.ts'
import { modelEndpoints } from '../../src/pipeline/endpoints.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

let bed: Testbed
let closed: Testbed
let document: Json

beforeAll(async () => {
  bed = await startTestbed({
    env: { ADMIN_TOKEN: 'an-admin-token-for-tests', PUBLIC_URL: 'https://llm.example/' },
  })
  closed = await startTestbed()
  document = await documentOf(bed)
})
afterAll(async () => {
  await bed?.close()
  await closed?.close()
})

async function documentOf({ tollgate: { port } }: Testbed): Promise<Json> {
  return (await (await fetch(`http://127.0.0.1:${port}/openapi.json`)).json()) as Json
}

/** `GET /v1/models` of every operation. */
function operationsOf({ paths }: Json): { name: string; operation: Json }[] {
  return entriesOf(paths).flatMap(([path, item]) =>
    entriesOf(item).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation: isRecord(operation) ? operation : {},
    })),
  )
}

function entriesOf(value: unknown): [string, unknown][] {
  return Object.entries(isRecord(value) ? value : {})
}

describe('GET /openapi.json', () => {
  test('is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    expect(await validator.validate(document)).toEqual({ valid: true })
    expect(validator.version).toBe('3.1')
    expect(document).toMatchObject({ info: { version: packageJson.version } })
  })

  test('refers only to its own components, and uses all of them', () => {
    const references = new Set(
      [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, to]) => to),
    )
    const has = entriesOf(document.components).flatMap(([kind, named]) =>
      entriesOf(named).map(([name]) => `#/components/${kind}/${name}`),
    )
    const named = has.filter((path) => !path.includes('/securitySchemes/'))
    expect([...references].sort()).toEqual(named.sort())
  })

  test('has every endpoint and nothing else, each with its own operation id', () => {
    const { context } = bed.tollgate
    const endpoints = [...modelEndpoints, ...apiEndpoints(context)]
    const operations = operationsOf(document)
    expect(operations.map(({ name }) => name).sort()).toEqual(
      endpoints.map(({ method, path }) => `${method} ${path}`).sort(),
    )
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(operations.length)
  })

  test('links the vendor’s reference for each vendor’s format', () => {
    for (const { method, path, reference } of modelEndpoints) {
      const { operation } = operationsOf(document).find(({ name }) => name === `${method} ${path}`) ?? {}
      expect(operation).toMatchObject({ externalDocs: { url: reference } })
    }
  })

  test('lists the parameters with their bounds and defaults', () => {
    const { operation } =
      operationsOf(document).find(({ name }) => name === 'GET /v1/images/generations') ?? {}
    expect(operation?.parameters).toContainEqual({
      name: 'limit',
      in: 'query',
      required: false,
      description: 'The maximum number of jobs per page.',
      schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
    })
  })

  test('says which credential each call needs: a key, a link, the admin token or a session, or none', () => {
    const securityOf = (wanted: string) =>
      operationsOf(document).find(({ name }) => name === wanted)?.operation.security
    expect(securityOf('POST /v1/messages')).toEqual([{ bearer: [] }, { apiKey: [] }])
    expect(securityOf('GET /v1/images/files/{day}/{name}')).toEqual([])
    expect(securityOf('GET /admin/v1/tenants/{id}/balance')).toEqual([{ adminToken: [] }, { session: [] }])
    expect(securityOf('POST /admin/v1/session')).toEqual([])
  })

  test('names PUBLIC_URL as the server if it is set', async () => {
    expect(document.servers).toEqual([{ url: 'https://llm.example' }])
    expect((await documentOf(closed)).servers).toBeUndefined()
  })

  test('has the same calls without ADMIN_TOKEN: users open them too', async () => {
    const namesOf = (described: typeof document) => operationsOf(described).map(({ name }) => name)
    expect(namesOf(await documentOf(closed))).toEqual(namesOf(document))
  })

  test('needs no key and writes no row', async () => {
    const answer = await fetch(`http://127.0.0.1:${bed.tollgate.port}/openapi.json`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(await bed.rows()).toEqual([])
  })
})
