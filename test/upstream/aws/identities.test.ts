import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../../src/runtime/clock.ts'
import { AwsIdentities } from '../../../src/upstream/aws/identities.ts'
import { sdkSource } from '../../../src/upstream/aws/sdk-source.ts'
import { type ScriptedAws, startAws, withAwsEnv } from '../../support/aws/scripted-aws.ts'

/** Amazon's own chain of identities, against services that refuse what the real ones refuse. */

const role = 'arn:aws:iam::123456789012:role/models'
const region = 'us-east-1'
const call = { signal: new AbortController().signal }

let aws: ScriptedAws
let folder: string
let identities: AwsIdentities
let restore = () => {}

beforeAll(async () => {
  aws = await startAws()
  folder = mkdtempSync(join(tmpdir(), 'tollgate-aws-'))
  writeFileSync(join(folder, 'token'), aws.tokens.webIdentityToken)
  writeFileSync(join(folder, 'another-token'), 'a.b.c')
})
afterAll(async () => {
  await aws.close()
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  aws.tokens.calls.length = 0
  aws.tokens.roles.clear()
  aws.tokens.roles.set(role, {})
  identities = new AwsIdentities(sdkSource, systemClock)
})
afterEach(() => restore())

const ambient = async (env: Record<string, string>) => {
  restore = withAwsEnv(env)
  return await identities.of('', { kind: 'sigv4' }, region, call)
}
const keyIn = (env: Record<string, string>) => ambient(env).then(({ accessKeyId }) => accessKeyId)

test('the environment has a key', async () => {
  const env = { AWS_ACCESS_KEY_ID: 'AKIAEXAMPLEEXAMPLE00', AWS_SECRET_ACCESS_KEY: 'secret-of-the-env' }
  expect(await ambient({ ...env, AWS_SESSION_TOKEN: 't' })).toMatchObject({
    accessKeyId: 'AKIAEXAMPLEEXAMPLE00',
    secretAccessKey: 'secret-of-the-env',
    sessionToken: 't',
    expiresAt: undefined,
  })
  expect(aws.tokens.calls).toEqual([])
})

test('a web identity token in a file is exchanged for the role', async () => {
  const id = await keyIn(aws.env.webIdentity(join(folder, 'token'), role))
  expect(aws.tokens.keys.has(id)).toBe(true)
  expect(aws.tokens.calls).toEqual([expect.stringContaining(`AssumeRoleWithWebIdentity ${role}`)])
})

test('a container has a token for its address', async () => {
  expect(aws.tokens.keys.has(await keyIn(aws.env.container))).toBe(true)
  expect(aws.tokens.calls).toEqual(['container'])
})

test('an instance is asked for a session first (IMDSv2)', async () => {
  expect(aws.tokens.keys.has(await keyIn(aws.env.instance))).toBe(true)
  expect(aws.tokens.calls[0]).toBe('PUT /latest/api/token')
})

test.each<[string, () => Record<string, string>, string]>([
  [
    'a token of another issuer',
    () => aws.env.webIdentity(join(folder, 'another-token'), role),
    'verification key',
  ],
  [
    'a role that is not known',
    () => aws.env.webIdentity(join(folder, 'token'), `${role}x`),
    'Not authorized',
  ],
  ['no identity at all', () => ({ AWS_EC2_METADATA_DISABLED: 'true' }), 'Could not load credentials'],
  [
    'a container token that is wrong',
    () => ({ ...aws.env.container, AWS_CONTAINER_AUTHORIZATION_TOKEN: 'x' }),
    '',
  ],
])('%s fails with an error that says why', async (_what, env, words) => {
  await expect(ambient(env())).rejects.toThrow(words)
})

test('a role is assumed with a key, with its external id and the name of its sessions', async () => {
  const { accessKeyId, secretAccessKey } = aws.tokens.issueLasting()
  aws.tokens.roles.set(role, { externalId: 'ours' })
  restore = withAwsEnv(aws.env.sts)
  const auth = { kind: 'sigv4', roleArn: role, sessionName: 'gate-1' } as const
  const credential = `${accessKeyId}:${secretAccessKey}`
  await expect(identities.of(credential, auth, region, call)).rejects.toThrow(
    'is not authorized to perform: sts:AssumeRole',
  )
  const assumed = await identities.of(credential, { ...auth, externalId: 'ours' }, region, call)
  expect(assumed).toEqual({ ...aws.tokens.keys.get(assumed.accessKeyId), origin: `the role ${role}` })
  expect(aws.tokens.calls).toEqual([`AssumeRole ${role} gate-1`, `AssumeRole ${role} gate-1`])
})

test('a role is assumed with the identity of the machine, which is fetched once for all roles', async () => {
  restore = withAwsEnv({ ...aws.env.sts, ...aws.env.container })
  const roles = [role, `${role}/2`]
  for (const each of roles) aws.tokens.roles.set(each, {})
  await Promise.all(roles.map((roleArn) => identities.of('', { kind: 'sigv4', roleArn }, region, call)))
  expect(aws.tokens.calls.toSorted()).toEqual([
    `AssumeRole ${role} tollgate`,
    `AssumeRole ${role}/2 tollgate`,
    'container',
  ])
})
