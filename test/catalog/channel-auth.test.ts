import { describe, expect, test } from 'vitest'
import { awsScopeOf, readAwsKey } from '../../src/catalog/aws-credentials.ts'
import { connectionColumns, openedConnection } from '../../src/catalog/channel-connection.ts'
import { connectionWords } from '../../src/catalog/entry-out.ts'
import { readGatewayYaml } from '../../src/catalog/gateway-yaml.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'

/** The setting `auth` of a channel: how its requests prove whose they are. */

const files: Record<string, string> = {
  key: 'AKIAEXAMPLEEXAMPLE00:a/secret/access/key/of+forty+letters000\n',
  bad: 'only-one-part',
}
const host = 'https://bedrock-runtime.eu-central-1.amazonaws.com'
const key = 'AKIAEXAMPLEEXAMPLE00:a/secret/access/key/of+forty+letters000'

function read(lines: string, url = `${host}/openai/v1`, keys = `api_keys: ["${key}"],`) {
  const text = `channels:
  - { name: c, protocols: { openai-chat: "${url}" }, models: "*",
    ${keys}
    ${lines} }`
  const readFile = (name: string) => files[name] ?? ''
  return readGatewayYaml(text, { path: 'gateway.yaml', env: {}, readFile }).channels[0]
}

function problemsOf(...of: Parameters<typeof read>): string[] {
  try {
    read(...of)
  } catch (error) {
    return error instanceof Error ? error.message.split('\n') : []
  }
  return []
}

const role = 'arn:aws:iam::123456789012:role/teams/models'

describe('in gateway.yaml', () => {
  test('is a kind alone, or a map', () => {
    expect(read('auth: sigv4')?.connection).toEqual({ auth: { kind: 'sigv4' } })
    expect(
      read(
        `auth: { kind: sigv4, region: eu-west-1, service: bedrock-mantle, role_arn: "${role}", external_id: ours, session_name: gate }`,
      )?.connection,
    ).toEqual({
      auth: {
        kind: 'sigv4',
        region: 'eu-west-1',
        service: 'bedrock-mantle',
        roleArn: role,
        externalId: 'ours',
        sessionName: 'gate',
      },
    })
    expect(read('auth: {}')).not.toHaveProperty('connection')
    expect(read('auth: { kind: api-key }')?.connection).toEqual({ auth: { kind: 'api-key' } })
  })

  test.each([
    ['auth: google', 'auth.kind: must be one of bearer, api-key, sigv4'],
    ['auth: { kind: entra }', 'auth.kind: must be one of bearer, api-key, sigv4'],
    ['auth: { kind: sigv4, zone: a }', 'auth.zone: is not a known setting'],
    ['auth: { kind: bearer, region: us-east-1 }', 'auth.region: requires "kind: sigv4"'],
    ['auth: { region: us-east-1 }', 'auth.region: requires "kind: sigv4"'],
    ['auth: { kind: sigv4, service: iam }', 'auth.service: must be one of bedrock, bedrock-mantle'],
    ['auth: { kind: sigv4, region: "evil.example/" }', 'auth.region: must be a region, such as us-east-1'],
    [
      'auth: { kind: sigv4, role_arn: models }',
      'auth.role_arn: must be the ARN of a role, such as arn:aws:iam::123456789012:role/models',
    ],
    ['auth: { kind: sigv4, external_id: ours }', 'auth.external_id: requires "role_arn"'],
    ['auth: [sigv4]', 'auth: must be a map'],
  ])('%s is refused by name', (lines, problem) => {
    expect(problemsOf(lines)).toEqual([expect.stringContaining(`channels[0].${problem}`)])
  })

  test('needs a region and a service that the host does not say', () => {
    const url = 'https://models.internal.example/openai/v1'
    const why = 'is missing: the host of the base URL of openai-chat does not say it'
    expect(problemsOf('auth: sigv4', url)).toEqual([`gateway.yaml:4: channels[0].auth.service: ${why}`])
    expect(problemsOf('auth: { kind: sigv4, service: bedrock }', url)).toEqual([
      `gateway.yaml:4: channels[0].auth.region: ${why}`,
    ])
    expect(problemsOf('auth: { kind: sigv4, service: bedrock, region: eu-west-1 }', url)).toEqual([])
  })

  test('needs no keys if requests are signed: the machine has an identity', () => {
    expect(read('auth: sigv4', undefined, '')?.credentials).toEqual([''])
    for (const lines of ['auth: bearer', 'weight: 1'])
      expect(problemsOf(lines, undefined, '')).toEqual(['gateway.yaml:2: channels[0].api_keys: is missing'])
  })

  test('takes keys of two or three parts, also from files, and never repeats one that is none', () => {
    expect(read('auth: sigv4', undefined, 'api_keys: ["file:key", ""],')?.credentials).toEqual([key, ''])
    const token = `${key}:${'t'.repeat(300)}==`
    expect(read('auth: sigv4', undefined, `api_keys: ["${token}"],`)?.credentials).toEqual([token])
    const problems = problemsOf('auth: sigv4', undefined, 'api_keys: ["file:bad", "AKIA:short"],')
    expect(problems.map((line) => line.replace(/must be .*/, ''))).toEqual([
      'gateway.yaml:3: channels[0].api_keys[0]: ',
      'gateway.yaml:3: channels[0].api_keys[1]: ',
    ])
    expect(problems.join()).not.toMatch(/only-one-part|AKIA:short/)
  })
})

test('is stored where it can be shown, because none of it is a secret', () => {
  const keeper = new SecretKeeper('a secret key for tests, long enough')
  const auth = { kind: 'sigv4', region: 'eu-west-1', roleArn: role } as const
  const columns = connectionColumns({ auth }, 'id', undefined, keeper)
  expect(columns).toEqual({ connection: { auth }, connectionKeyId: null, connectionSealed: null })
  const stored = openedConnection({ id: 'id', ...columns }, keeper)
  expect(stored).toEqual({ auth })
  expect(connectionWords(stored ?? {})).toEqual({
    auth: { kind: 'sigv4', region: 'eu-west-1', role_arn: role },
  })
})

test.each([
  ['https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1', 'us-east-1', 'bedrock'],
  ['https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com/anthropic', 'us-gov-west-1', 'bedrock'],
  ['https://bedrock-runtime.eu-central-1.api.aws/openai/v1', 'eu-central-1', 'bedrock'],
  ['https://vpce-0a1b-2c3d.bedrock-runtime.us-east-1.vpce.amazonaws.com/openai/v1', 'us-east-1', 'bedrock'],
  ['https://bedrock-runtime.cn-north-1.amazonaws.com.cn/openai/v1', 'cn-north-1', 'bedrock'],
  ['https://bedrock-mantle.us-west-2.api.aws/v1', 'us-west-2', 'bedrock-mantle'],
])('the host of %s says the region and the service', (url, region, service) => {
  expect(awsScopeOf({}, url)).toEqual({ region, service })
})

test.each([
  'https://bedrock-runtime.us-east-1.amazonaws.com.evil.example/',
  'https://bedrock.us-east-1.amazonaws.com/',
  'https://api.openai.com/v1',
])('the host of %s says neither', (url) => {
  expect(awsScopeOf({}, url)).toBeUndefined()
})

test.each(['', 'one', 'AKIAEXAMPLEEXAMPLE00:', `${key}:`, `${key}:token with spaces`, `:${key}`])(
  '%j is no key',
  (text) => {
    expect(readAwsKey(text)).toBeUndefined()
  },
)
