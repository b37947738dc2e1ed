import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { hashKeySecret } from '../../src/access/key-secret.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { readKeeper } from '../../src/secrets/open-masters.ts'
import type { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { ImageLinks } from '../../src/storage/links.ts'
import { repository } from '../support/former-release.ts'
import { freeKey, gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { type ProcessTestbed, startProcessTestbed } from '../support/process-testbed.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { until } from '../support/until.ts'

const adminKey = 'admin-key-for-tests-00001'

test('a new master key seals everything anew while two processes serve, and keys of before still open', async () => {
  const bed = await aBed()
  const second = await another(bed)
  const old = await keeperOf(bed)
  const { sql } = bed.database
  await sql`INSERT INTO keys (id, tenant_id, group_id, name, secret_hash, hint, managed_by)
    SELECT gen_random_uuid(), tenant_id, group_id, 'by hand', ${hashKeySecret(adminKey, old.pepper)}, 'admi…', 'admin'
    FROM keys WHERE name = 'free'`
  const answered = (key: string) => ({ key, headers: { 'idempotency-key': 'same' } })
  const body = { model: 'main', messages: [{ role: 'user', content: 'hello' }] }
  const kept = await (await bed.chat(body, answered(freeKey))).text()

  const [user, call] = [randomUUID(), randomUUID()]
  await sql`INSERT INTO users (id, email, role, totp_secret)
    VALUES (${user}, 'two@example.com', 'viewer', ${old.seal('totp', 'of the app', user)})`
  await sql`INSERT INTO admin_answers (user_id, key_hash, fingerprint, request_id, status, answer, created_at)
    VALUES (${user}, 'hash', 'print', ${call}, 201, ${old.encryptAnswer(Buffer.from('kept'), call)}, now())`

  const { code, said } = await rotate(bed, {}, '--new-master')
  expect(said).toContain('all processes now seal with it')
  expect(code).toBe(0)
  const keeper = await keeperOf(bed)
  expect(keeper.keyId).not.toBe(old.keyId)
  const sealedBy = await sql`SELECT DISTINCT key_id FROM channel_credentials`
  expect(sealedBy).toEqual([{ key_id: keeper.keyId }])
  const [row] = await sql`SELECT answer, request_id FROM idempotency_keys WHERE answer IS NOT NULL`
  expect(() => old.decryptAnswer(row?.answer, row?.request_id)).toThrow('sealed with another')
  expect(keeper.decryptAnswer(row?.answer, row?.request_id).toString()).toBe(kept)

  const [factor] = await sql`SELECT totp_secret AS sealed FROM users`
  expect(() => old.open('totp', factor?.sealed, user)).toThrow()
  expect(keeper.open('totp', factor?.sealed, user).toString()).toBe('of the app')
  const [answer] = await sql`SELECT answer AS sealed FROM admin_answers`
  expect(() => old.decryptAnswer(answer?.sealed, call)).toThrow('sealed with another')
  expect(keeper.decryptAnswer(answer?.sealed, call).toString()).toBe('kept')
  expect(said).toMatch(/set them up again\):\n {2}two@example.com\n/)

  // Keys of before open in each process, and the file's are hashed anew when it is applied again.
  for (const url of [bed.tollgate.url, second.url]) {
    for (const key of [freeKey, adminKey]) expect(await status(url, key)).toBe(200)
    expect(await status(url, 'no-key-of-anybody-0001')).toBe(401)
  }
  const repeated = await bed.chat(body, answered(freeKey))
  expect(await repeated.text()).toBe(kept)
  const third = await another(bed)
  for (const url of [bed.tollgate.url, second.url, third.url])
    for (const key of [freeKey, adminKey]) expect(await status(url, key)).toBe(200)
  const [file] = await sql`SELECT secret_hash FROM keys WHERE name = 'free'`
  expect(file?.secret_hash).toEqual(hashKeySecret(freeKey, keeper.pepper))

  expect(said).toMatch(/renew them at the vendors\):\n {2}scripted\n/)
  expect(said).toContain('  by hand of tenant free\n')
  expect(said).not.toContain(adminKey)
})

test('a process that cannot follow is named, no process seals with the new key, and a later call goes on with it', async () => {
  const bed = await aBed()
  const old = await keeperOf(bed)
  const { sql } = bed.database
  await sql`INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state)
    VALUES (gen_random_uuid(), 'former', 7, now(), now() + interval '1 hour', 'live')`
  const refused = await rotate(bed, {}, '--new-master')
  expect(refused).toMatchObject({ code: 1 })
  expect(refused.said).toContain(
    'process 7 on former, which has not recorded a master key yet, has not learned',
  )
  expect((await keeperOf(bed)).keyId).toBe(old.keyId)
  const [prepared] = await sql`SELECT id FROM master_keys WHERE used_from IS NULL`
  await sql`DELETE FROM instances WHERE host = 'former'`
  expect(await rotate(bed, {}, '--new-master')).toMatchObject({ code: 0 })
  expect((await keeperOf(bed)).keyId).toBe(prepared?.id)
})

test('a command that is killed anywhere leaves all secrets readable, and the next one ends its work', async () => {
  const bed = await aBed()
  const { sql } = bed.database
  const moments = [
    () => sql`SELECT FROM master_keys OFFSET 1`,
    () => sql`SELECT FROM master_keys WHERE used_from IS NOT NULL OFFSET 1`,
  ]
  for (const moment of moments) {
    const child = command(bed, {}, '--new-master')
    const ended = once(child, 'exit')
    await until(async () => (await moment()).length > 0)
    child.kill('SIGKILL')
    await ended
    expect(await status(bed.tollgate.url, freeKey)).toBe(200)
    const fresh = await another(bed)
    expect(await status(fresh.url, freeKey)).toBe(200)
    expect(await fresh.stop()).toBe(0)
  }
  expect(await rotate(bed, {})).toMatchObject({ code: 0 })
  const { keyId } = await keeperOf(bed)
  expect(await sql`SELECT DISTINCT key_id FROM channel_credentials`).toEqual([{ key_id: keyId }])
  expect(await status(bed.tollgate.url, freeKey)).toBe(200)
})

test('SECRET_KEY is replaced process by process, and the old one opens nothing once the rotation has ended', async () => {
  const bed = await aBed()
  const next = 'the-next-secret-key-of-32-characters'
  await expect(another(bed, { SECRET_KEY: next })).rejects.toThrow(/wrapped by SECRET_KEY 01121222/)
  const rolled = { SECRET_KEY: next, SECRET_KEY_PREVIOUS: secretKey }
  const both = await Promise.all([another(bed, rolled), another(bed, rolled)])
  for (const { url } of [bed.tollgate, ...both]) expect(await status(url, freeKey)).toBe(200)
  const early = await rotate(bed, { SECRET_KEY: next })
  expect(early).toMatchObject({ code: 1 })
  expect(early.said).toContain(`process ${bed.tollgate.pid} on`)
  // The former SECRET_KEY still starts a process, as one that its service manager starts again.
  const again = await another(bed)
  expect(await status(again.url, freeKey)).toBe(200)
  expect(await again.stop()).toBe(0)
  expect(await bed.tollgate.stop()).toBe(0)
  expect(await rotate(bed, { SECRET_KEY: next })).toMatchObject({
    code: 0,
    said: expect.stringContaining('no longer by 01121222'),
  })
  await expect(another(bed)).rejects.toThrow('wrapped by SECRET_KEY')
  const last = await another(bed, { SECRET_KEY: next })
  expect(await status(last.url, freeKey)).toBe(200)
})

test('links, envelopes and webhooks of before are taken, but no link that the old key could sign later', async () => {
  const bed = await aBed()
  const old = await keeperOf(bed)
  const [link, envelope] = [new ImageLinks(old.ring('link'), 60), makeEnvelope(old.ring('envelope'))]
  const signature = { protocol: 'openai-responses', model: 'm', kind: 'encrypted', value: 'v' } as const
  expect(await rotate(bed, {}, '--new-master')).toMatchObject({ code: 0 })
  const keeper = await keeperOf(bed)
  const [newLink, newEnvelope] = [
    new ImageLinks(keeper.ring('link'), 60),
    makeEnvelope(keeper.ring('envelope')),
  ]
  const now = Date.now()
  const check = (path: string, atMs: number) => {
    const { pathname, searchParams } = new URL(path, 'http://x')
    const file = pathname.replace('/v1/images/files/', '')
    newLink.verify(file, searchParams.get('expires') ?? '', searchParams.get('signature') ?? '', atMs)
  }
  check(link.sign('day/one.png', now - 30_000), now)
  check(newLink.sign('day/one.png', now), now)
  expect(() => check(link.sign('day/one.png', now + 30_000), now)).toThrow(
    'signature of the link is missing or wrong',
  )
  expect(newEnvelope.open(envelope.wrap(signature))).toEqual(signature)
  expect(envelope.open(newEnvelope.wrap(signature))).toBeUndefined()
})

async function aBed(): Promise<ProcessTestbed> {
  const bed = await startProcessTestbed()
  onTestFinished(() => bed.close())
  return bed
}

async function another(bed: ProcessTestbed, env: Record<string, string> = {}): Promise<TollgateProcess> {
  const tollgate = await startTollgate({
    databaseUrl: bed.databaseUrl,
    gatewayYaml: gatewayYaml(bed.upstream.url),
    env: { SECRET_KEY: secretKey, SHIP_INTERVAL_MS: '20', ...env },
  })
  onTestFinished(async () => void (await tollgate.stop()))
  return tollgate
}

const keeperOf = (bed: ProcessTestbed): Promise<SecretKeeper> => readKeeper(bed.database.sql, { secretKey })

async function status(url: string, key: string): Promise<number> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'main', messages: [{ role: 'user', content: 'hello' }] }),
  })
  await answer.arrayBuffer()
  return answer.status
}

function command(bed: ProcessTestbed, env: Record<string, string>, ...options: string[]) {
  return spawn(process.execPath, ['tollgate.cjs', 'secrets', 'rotate', ...options], {
    cwd: repository,
    env: { PATH: process.env.PATH, DATABASE_URL: bed.databaseUrl, SECRET_KEY: secretKey, ...env },
  })
}

/** What `npm run secrets:rotate` prints, on standard output and error together, and its exit code. */
async function rotate(bed: ProcessTestbed, env: Record<string, string>, ...options: string[]) {
  const child = command(bed, env, ...options)
  const [said, complaint, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  return { code: Number(code), said: said + complaint }
}
