import { expect, test } from 'vitest'
import { readConfig } from '../src/config/config.ts'

test('with an empty environment every setting has its default', () => {
  const config = readConfig({})
  expect(config).toMatchObject({
    host: '127.0.0.1',
    port: 8787,
    dataDir: '.tollgate',
    logLevel: 'info',
    journalSync: 'process',
  })
  expect(config).toMatchObject({
    databaseUrl: undefined,
    gatewayConfig: undefined,
    secretKey: undefined,
    secretKeyPrevious: undefined,
    publicUrl: undefined,
  })
  expect(config.bounds).toMatchObject({
    bodyBytesMax: 33_554_432,
    requestReadMs: 60_000,
    attemptsMax: 3,
    requestRetentionDays: 90,
  })
  for (const [name, bound] of Object.entries(config.bounds))
    expect(Number.isSafeInteger(bound), name).toBe(true)
})

test('an empty variable counts as unset', () => {
  expect(
    readConfig({ PORT: '', DATABASE_URL: '', LOG_LEVEL: '', SECRET_KEY: '', IN_FLIGHT_MAX: '' }),
  ).toEqual(readConfig({}))
})

test('a set value is used, at both ends of its range', () => {
  expect(readConfig({ PORT: '0' }).port).toBe(0)
  expect(readConfig({ PORT: '65535' }).port).toBe(65_535)
  expect(
    readConfig({
      BODY_BYTES_MAX: '1024',
      LOG_LEVEL: 'silent',
      JOURNAL_SYNC: 'disk',
      PUBLIC_URL: 'https://gateway.example.com/x',
    }),
  ).toMatchObject({
    logLevel: 'silent',
    journalSync: 'disk',
    publicUrl: 'https://gateway.example.com/x',
    bounds: { bodyBytesMax: 1024 },
  })
})

test.for([
  ['PORT', 'http', 'must be a whole number from 0 to 65535'],
  ['PORT', '65536', 'must be a whole number from 0 to 65535'],
  ['BODY_BYTES_MAX', '32MB', 'must be a whole number of 1024 or more'],
  ['BODY_BYTES_MAX', '1023', 'must be a whole number of 1024 or more'],
  ['BODY_BYTES_MAX', '1e6', 'must be a whole number of 1024 or more'],
  ['DECODED_BYTES_MAX', '33554431', 'must be at least BODY_BYTES_MAX (33554432)'],
  ['BODIES_BYTES_MAX', '33554431', 'must be at least BODY_BYTES_MAX (33554432)'],
  ['KEY_BODIES_BYTES_MAX', '33554431', 'must be at least BODY_BYTES_MAX (33554432)'],
  ['ATTEMPTS_MAX', '2.5', 'must be a whole number from 1 to 20'],
  ['ATTEMPTS_MAX', '-1', 'must be a whole number from 1 to 20'],
  ['ATTEMPTS_MAX', ' ', 'must be a whole number from 1 to 20'],
  ['UPSTREAM_TOTAL_MS', '2147483648', 'must be a whole number from 1 to 2147483647'],
  ['LOG_LEVEL', 'loud', 'must be one of trace, debug, info, warn, error, fatal, silent'],
  ['JOURNAL_SYNC', 'yes', 'must be one of process, disk'],
  ['DATABASE_URL', 'mysql://x', 'must be a postgres:// URL'],
  ['PUBLIC_URL', 'gateway.example.com', 'must be an http:// or https:// URL'],
  ['SECRET_KEY', 'short', 'must have at least 32 characters (try: openssl rand -hex 32)'],
] as const)(
  '%s=%s is refused by an error that says what it must be and does not show its value',
  ([name, value, rule]) => {
    expect(() => readConfig({ [name]: value })).toThrow(
      new Error(`The environment contains invalid values:\n  ${name}: ${rule}`),
    )
  },
)

test('all wrong variables are named at once, each on its own line', () => {
  expect(() => readConfig({ PORT: 'x', IN_FLIGHT_MAX: '0', LOG_LEVEL: 'x' })).toThrow(
    /:\n {2}PORT: must .+\n {2}LOG_LEVEL: must .+\n {2}IN_FLIGHT_MAX: must .+$/,
  )
})
