import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type ScriptedAws, startAws, withAwsEnv } from '../support/aws/scripted-aws.ts'
import { type DoctorBed, startDoctorBed } from '../support/doctor-bed.ts'

/** What `tollgate doctor` says of channels whose requests are signed. */

const role = 'arn:aws:iam::123456789012:role/models'

let bed: DoctorBed
let aws: ScriptedAws
let restore = () => {}
beforeAll(async () => {
  ;[bed, aws] = await Promise.all([startDoctorBed(), startAws()])
})
afterAll(() => Promise.all([bed.close(), aws.close()]))
afterEach(() => restore())

async function diagnose(more: string, env: Record<string, string>) {
  restore = withAwsEnv(env)
  const yaml = `models: [{ id: gpt }]
channels:
  - { name: cloud, protocols: { openai-chat: "${aws.runtime}/openai/v1" }, models: { gpt: openai.gpt-oss-20b-1:0 }, allow_private_address: true, ${more} }
groups:
  - { name: default, models: ['*'], channels: ['*'] }
`
  const path = join(bed.folder, 'bedrock.yaml')
  writeFileSync(path, yaml)
  const found = await bed.diagnose({ GATEWAY_CONFIG: path })
  for (const { secretAccessKey, sessionToken } of aws.tokens.keys.values()) {
    expect(found.text).not.toContain(secretAccessKey)
    expect(found.text).not.toContain(sessionToken ?? 'no token')
  }
  return found
}
const signed = 'auth: { kind: sigv4, region: us-east-1, service: bedrock }'
const withRole = `auth: { kind: sigv4, region: us-east-1, service: bedrock, role_arn: "${role}" }`

test('the identity that was found is named, with where it comes from', async () => {
  const found = await diagnose(signed, aws.env.container)
  expect(found.finding('channels.identity')).toMatchObject({
    verdict: 'well',
    what: expect.stringMatching(
      /^cloud signs for bedrock in us-east-1 with the key ASIA\w+ of the container$/,
    ),
  })
  expect(found.finding('channels.answers')).toMatchObject({ verdict: 'well' })
  expect(found.wrong).toEqual([])
})

test('so is a role, and a key of the configuration', async () => {
  aws.tokens.roles.set(role, {})
  const { accessKeyId, secretAccessKey } = aws.tokens.issueLasting()
  const found = await diagnose(`${withRole}, api_keys: ["${accessKeyId}:${secretAccessKey}"]`, aws.env.sts)
  expect(found.finding('channels.identity')?.what).toContain(` of the role ${role}`)
  const own = await diagnose(`${signed}, api_keys: ["${accessKeyId}:${secretAccessKey}"]`, {})
  expect(own.finding('channels.identity')?.what).toContain(`with the key ${accessKeyId} in api_keys`)
})

test('a role that is refused is what is wrong', async () => {
  aws.tokens.roles.clear()
  const found = await diagnose(withRole, { ...aws.env.sts, ...aws.env.container })
  expect(found.wrong).toEqual(['channels.identity'])
  expect(found.finding('channels.identity')).toMatchObject({
    why: expect.stringContaining('is not authorized to perform: sts:AssumeRole'),
    do: expect.stringContaining('trust policy'),
  })
})

test('a machine without an identity is what is wrong', async () => {
  const found = await diagnose(signed, { AWS_EC2_METADATA_DISABLED: 'true' })
  expect(found.wrong).toEqual(['channels.identity'])
  expect(found.finding('channels.identity')?.why).toContain('Could not load credentials')
})
