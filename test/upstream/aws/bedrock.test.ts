import OpenAI from 'openai'
import { bedrock } from 'openai/providers/bedrock/aws'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectionColumns, openConnection } from '../../../src/catalog/channel-connection.ts'
import type { Channel } from '../../../src/catalog/snapshot.ts'
import type { ChannelAuth } from '../../../src/db/settings/auth-settings.ts'
import { settingsOfChannels } from '../../../src/db/settings/channel-settings.ts'
import { defaultsOf } from '../../../src/db/settings/setting.ts'
import { ChannelLoad } from '../../../src/routing/channel-load.ts'
import { secretsOf } from '../../../src/routing/credentials.ts'
import { SecretKeeper } from '../../../src/secrets/secret-key.ts'
import { AwsIdentities } from '../../../src/upstream/aws/identities.ts'
import { sdkSource } from '../../../src/upstream/aws/sdk-source.ts'
import { signersWith } from '../../../src/upstream/signers.ts'
import { type UpstreamRequest, Upstreams } from '../../../src/upstream/upstreams.ts'
import { awsRegion, type ScriptedAws, startAws, withAwsEnv } from '../../support/aws/scripted-aws.ts'
import { socketBounds } from '../../support/socket-bounds.ts'

/** The scripted Bedrock, as the vendor's own SDK sees it, and what we sign for it. */

const bounds = {
  ...socketBounds,
  upstreamConnectMs: 10_000,
  upstreamFirstByteMs: 10_000,
  upstreamIdleMs: 10_000,
  upstreamTotalMs: 20_000,
}
const keeper = new SecretKeeper('a secret key for tests, long enough')
const id = '00000000-0000-7000-8000-000000000001'

let aws: ScriptedAws
/** Of our clock, in ms, against the vendor's. */
let offMs: number
let upstreams: Upstreams
let restore = () => {}

beforeAll(async () => {
  aws = await startAws()
})
afterAll(() => aws.close())
beforeEach(() => {
  offMs = 0
  aws.served.length = 0
  aws.refused.length = 0
  aws.tokens.calls.length = 0
  const clock = { now: () => Date.now() + offMs, elapsed: () => performance.now() }
  const ways = { signerOf: signersWith(new AwsIdentities(sdkSource, clock), clock) }
  upstreams = new Upstreams(bounds, new ChannelLoad(1_000), new Map(), undefined, ways)
})
afterEach(async () => {
  restore()
  restore = () => {}
  await upstreams.destroy()
})

const hello = { model: 'openai.gpt-oss-20b-1:0', messages: [{ role: 'user' as const, content: 'Hello' }] }

function channelWith(auth: Partial<ChannelAuth>, baseUrl: string): Channel {
  const entry = { auth: { kind: 'sigv4', region: awsRegion, service: 'bedrock', ...auth } as const }
  const connection = openConnection({ id, ...connectionColumns(entry, id, undefined, keeper) }, keeper)
  return {
    id,
    name: 'bedrock',
    protocols: { 'openai-chat': baseUrl },
    ...defaultsOf(settingsOfChannels),
    allowPrivateAddress: true,
    credentials: [''],
    vendor: 'bedrock',
    connection,
  }
}

interface Answered {
  status: number | undefined
  body: string
  error: { reason: string | undefined; cause: unknown } | undefined
  secrets: readonly string[]
}

function ask(
  secret: string,
  {
    auth = {},
    baseUrl = `${aws.runtime}/openai/v1`,
    ...request
  }: Partial<UpstreamRequest> & {
    auth?: Partial<ChannelAuth>
    baseUrl?: string
  } = {},
): Promise<Answered> {
  const channel = channelWith(auth, baseUrl)
  const credential = { secret, name: 'c' }
  const target = { channel, baseUrl, credential, protocol: 'openai-chat' } as const
  const body = Buffer.from(JSON.stringify(hello))
  const sent = {
    method: 'POST',
    path: '/chat/completions',
    body,
    stream: false,
    headers: [],
    ...request,
  } as const
  return new Promise((resolve) => {
    let status: number | undefined
    const chunks: Buffer[] = []
    const done = (error?: Answered['error']) =>
      resolve({
        status,
        body: Buffer.concat(chunks).toString(),
        error,
        secrets: secretsOf({ channel, credential }),
      })
    upstreams.call(target, sent, {
      start: (_, begun) => {
        status = begun
      },
      data: (_, chunk) => void chunks.push(Buffer.from(chunk)),
      end: () => done(),
      fail: ({ reason, cause }) => done({ reason, cause }),
    })
  })
}

const textOf = ({ accessKeyId, secretAccessKey, sessionToken }: ReturnType<ScriptedAws['tokens']['issue']>) =>
  [accessKeyId, secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])].join(':')

describe("the vendor's SDK, which calls the scripted vendor directly,", () => {
  const client = (endpoint: 'runtime' | 'mantle', key = aws.tokens.issue()) =>
    new OpenAI({
      maxRetries: 0,
      provider: bedrock({
        region: awsRegion,
        endpoint,
        baseURL: `${aws[endpoint]}/openai/v1`,
        accessKeyId: key.accessKeyId,
        secretAccessKey: key.secretAccessKey,
        sessionToken: key.sessionToken ?? '',
      }),
    })

  test.each(['runtime', 'mantle'] as const)('is served by the endpoint %s', async (endpoint) => {
    const { choices } = await client(endpoint).chat.completions.create(hello)
    expect(choices[0]?.message.content).toContain('Hello')
    const stream = await client(endpoint).chat.completions.create({ ...hello, stream: true })
    let chunks = 0
    for await (const _ of stream) chunks++
    expect(chunks).toBeGreaterThan(2)
    expect(aws.refused).toEqual([])
  })

  test('is refused with a key that has ended, one that is not known, or one that is wrong', async () => {
    const { tokens } = aws
    await expect(client('runtime', tokens.issue(-1)).chat.completions.create(hello)).rejects.toThrow('403')
    const key = tokens.issue()
    const others = [
      { ...key, accessKeyId: 'ASIAUNKNOWNUNKNOWN00' },
      { ...key, secretAccessKey: 'another' },
      { ...key, sessionToken: 'another' },
    ]
    for (const other of others)
      await expect(client('runtime', other).chat.completions.create(hello)).rejects.toThrow('403')
    expect(aws.refused).toEqual([
      'ExpiredTokenException',
      'UnrecognizedClientException',
      'InvalidSignatureException',
      'UnrecognizedClientException',
    ])
  })
})

describe('our signature is accepted', () => {
  test.each<[string, Parameters<typeof ask>[1]]>([
    ['of a small body', {}],
    ['without a body', { method: 'GET', path: '/models', body: null }],
    [
      'of a path with a colon and spaces, and a query',
      { path: '/a%3A0/b%20c/models?z=1&a=b%20c', method: 'GET', body: null },
    ],
    [
      'with headers of the client',
      { headers: ['x-amz-other', 'signed', 'x-any', 'not signed', 'x-amz-date', 'theirs'] },
    ],
  ])('%s', async (_what, request) => {
    expect(await ask(textOf(aws.tokens.issueLasting()), request)).toMatchObject({ status: 200 })
    expect(await ask(textOf(aws.tokens.issue()), request)).toMatchObject({ status: 200 })
    expect(aws.refused).toEqual([])
  })

  test('for Mantle, whose signatures have a name of their own', async () => {
    const secret = textOf(aws.tokens.issue())
    const baseUrl = `${aws.mantle}/v1`
    expect(await ask(secret, { baseUrl, auth: { service: 'bedrock-mantle' } })).toMatchObject({ status: 200 })
    expect(await ask(secret, { baseUrl })).toMatchObject({ status: 403 })
    expect(aws.refused).toEqual(['InvalidSignatureException'])
  })

  test('of 30 MB in pieces, which are not copied, and other calls go on meanwhile', async () => {
    const [head, tail] = ['{"model":"m","messages":[{"role":"user","content":"', '"}]}']
    const pieces = [
      Buffer.from(head),
      ...Array.from({ length: 30 }, () => Buffer.alloc(1e6, 'a')),
      Buffer.from(tail),
    ]
    let turns = 0
    const counting = setInterval(() => turns++, 0)
    const { status } = await ask(textOf(aws.tokens.issue()), { body: { pieces, pace: () => undefined } })
    clearInterval(counting)
    expect(aws.refused).toEqual([])
    expect(status).toBe(200)
    expect(turns).toBeGreaterThan(5)
    expect(aws.served.map(({ body }) => body.length)).toEqual([30e6 + head.length + tail.length])
  })
})

test.each([
  ['late', -6, 'Signature expired: '],
  ['early', 6, 'Signature not yet current: '],
])('a clock that is %s: the refusal says so', async (_how, minutes, words) => {
  offMs = minutes * 60_000
  const { status, body } = await ask(textOf(aws.tokens.issueLasting()))
  expect(status).toBe(403)
  expect(JSON.parse(body).message).toContain(words)
})

test('with the identity of the machine: it is obtained once, and what was obtained must not be shown', async () => {
  restore = withAwsEnv(aws.env.container)
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask('')))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect(aws.tokens.calls).toEqual(['container'])
  const [key] = [...aws.tokens.keys.values()].slice(-1)
  for (const { secrets } of answers) expect(secrets).toEqual([key?.secretAccessKey, key?.sessionToken])
})

test('what must not be shown of a key are its secret and its token, also apart', async () => {
  const key = aws.tokens.issue()
  const { secrets } = await ask(textOf(key))
  expect(secrets).toEqual(expect.arrayContaining([textOf(key), key.secretAccessKey, key.sessionToken]))
  expect(secrets).not.toContain(key.accessKeyId)
})

test('a role that is refused fails the call, of which nothing was sent', async () => {
  restore = withAwsEnv({ ...aws.env.sts, ...aws.env.container })
  const roleArn = 'arn:aws:iam::123456789012:role/of-others'
  const { error, status } = await ask('', { auth: { roleArn } })
  expect(status).toBeUndefined()
  expect(error).toMatchObject({
    reason: 'upstream_request_unsigned',
    cause: { message: expect.stringContaining('is not authorized to perform: sts:AssumeRole') },
  })
  expect(aws.served).toEqual([])
})

test.each(['http://169.254.169.254/latest', 'http://169.254.170.2/v2', 'http://[fd00:ec2::254]/latest'])(
  'the address of a token service, %s, is never that of a channel',
  async (baseUrl) => {
    restore = withAwsEnv(aws.env.instance)
    const { error } = await ask('', { baseUrl })
    expect(error).toMatchObject({
      cause: { message: expect.stringContaining('which can never be an upstream') },
    })
  },
)
