import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestbed, type Testbed } from '../support/testbed.ts'

const values = {
  ADMIN_TOKEN: 'the-token-of-the-admin',
  SECRET_KEY_PREVIOUS: 'the-key-before-this-one-0123456789',
  OIDC_CLIENT_SECRET: 'the-secret-of-the-client',
  S3_ACCESS_KEY_ID: 'the-id-of-the-access-key',
  S3_SECRET_ACCESS_KEY: 'the-secret-access-key',
} as const

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({
    env: {
      ...values,
      OIDC_ISSUER: 'https://issuer.example.com',
      OIDC_CLIENT_ID: 'tollgate',
      OIDC_DOMAINS: 'example.com',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=the-key-of-the-collector',
    },
  })
})
afterAll(() => bed?.close())

test('settings say about a secret whether it is set, and never what it is', async () => {
  const response = await fetch(`http://127.0.0.1:${bed.tollgate.port}/admin/v1/settings`, {
    headers: { authorization: `Bearer ${values.ADMIN_TOKEN}` },
  })
  expect(response.status).toBe(200)
  const text = await response.text()
  expect(text).toContain('OTEL_EXPORTER_OTLP_HEADERS')
  expect(text).not.toContain('the-key-of-the-collector')
  for (const [name, value] of Object.entries(values)) {
    expect(text, name).not.toContain(value)
  }
  const { environment } = JSON.parse(text) as {
    environment: { name: string; value: unknown; is_secret: boolean; is_set: boolean }[]
  }
  const secretNames = environment.filter(({ name }) => /SECRET|ACCESS_KEY|PASSWORD|_TOKEN$/.test(name))
  expect(secretNames.map(({ name }) => name)).toEqual([
    'ADMIN_TOKEN',
    'OIDC_CLIENT_SECRET',
    'S3_ACCESS_KEY_ID',
    'S3_SECRET_ACCESS_KEY',
    'SECRET_KEY',
    'SECRET_KEY_PREVIOUS',
  ])
  for (const setting of secretNames) {
    expect(setting).toMatchObject({ value: null, is_secret: true, is_set: true })
  }
})
