import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../support/database.ts'
import { adminToken, operatorClient } from '../support/operator-client.ts'
import { ownPort } from '../support/own-port.ts'
import { beginTollgate, runTollgate, type TollgateRun } from '../support/run-tollgate.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { until } from '../support/until.ts'

/** Commands that call the admin API of a running gateway. */

let database: Awaited<ReturnType<typeof freshDatabase>>
let gateway: TollgateProcess
let port: number
const folder = mkdtempSync(join(tmpdir(), 'tollgate-commands-'))

const startGateway = () =>
  startTollgate({
    databaseUrl: database.url,
    gatewayYaml: undefined,
    env: { ADMIN_TOKEN: adminToken, PORT: String(port), SHIP_INTERVAL_MS: '20' },
  })

beforeAll(async () => {
  database = await freshDatabase()
  port = await ownPort()
  gateway = await startGateway()
})
afterAll(async () => {
  await gateway?.stop()
  await database?.drop()
  rmSync(folder, { recursive: true, force: true })
})

const environment = () => ({ TOLLGATE_URL: gateway.url, TOLLGATE_TOKEN: adminToken })
const run = (...args: string[]): Promise<TollgateRun> => runTollgate(args, environment())

async function ask(secret: string, model: string): Promise<number> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
  })
  await answer.arrayBuffer()
  return answer.status
}

const jsonLines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

describe('channels', () => {
  test('one is blocked with a reason, and unblocked', async () => {
    const secret = (await run('keys', 'create', 'default', 'of-a-blocked-channel')).output.trim()
    expect((await run('channels', 'block', 'demo')).errors).toContain('--reason TEXT is required')
    const blocked = await run('channels', 'block', 'demo', '--reason', 'it answers nonsense')
    expect(blocked.output).toMatch(
      /^Channel demo has been blocked since 2\d{3}-.* Running requests can finish\.\n$/,
    )
    expect(await ask(secret, 'demo-chat')).toBe(503)
    const probed = await run('probe', 'demo', 'demo-chat')
    expect(probed).toMatchObject({ code: 2, errors: expect.stringContaining('a person has blocked it') })
    const lifted = await run('channels', 'unblock', 'demo', '--json')
    expect(JSON.parse(lifted.output)).toMatchObject({ name: 'demo', blocked: null })
    expect(await ask(secret, 'demo-chat')).toBe(200)
    const unknown = await run('channels', 'block', 'nowhere', '--reason', 'x')
    expect(unknown.errors).toContain('channel with this id or name')
  })
})

describe('keys', () => {
  test('one is found by a secret on standard input, blocked and unblocked', async () => {
    const made = await run('keys', 'create', 'default', 'to-be-blocked')
    const secret = made.output.trim()
    const find = (input: string, ...args: string[]) =>
      runTollgate(['keys', 'find', ...args], environment(), { input })
    expect(await find(`${secret}\n`)).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^default\/to-be-blocked \(good\), id [0-9a-f-]{36}\n$/),
    })
    const unknown = await find('no-key-has-this-secret-1')
    expect(unknown.code).toBe(4)
    expect(unknown.errors).not.toContain('no-key-has')
    expect((await find('')).errors).toContain('which is empty')

    expect((await run('keys', 'block', 'default/to-be-blocked')).errors).toContain(
      '--reason TEXT is required',
    )
    const blocked = await run('keys', 'block', 'default/to-be-blocked', '--reason', 'it leaked')
    expect(blocked.output).toMatch(
      /^Key default\/to-be-blocked has been blocked since 2\d{3}-.* Running requests can finish\.\n$/,
    )
    expect(await ask(secret, 'demo-chat')).toBe(401)
    expect((await find(secret, '--json')).output).toContain('"reason": "it leaked"')
    expect((await run('keys', 'list', '--search', 'to-be-blocked')).output).toMatch(/blocked 2\d{3}-/)
    const lifted = await run('keys', 'unblock', 'default/to-be-blocked')
    expect(lifted.output).toBe('Key default/to-be-blocked is not blocked.\n')
    expect(await ask(secret, 'demo-chat')).toBe(200)
  })

  test('one is made, listed, rotated with a grace, and refused permanently; each step is in the audit log', async () => {
    const made = await run(
      'keys',
      'create',
      'default',
      'first-of-all',
      '--set',
      'limits.requests_per_minute=60',
    )
    expect(made).toMatchObject({ code: 0, output: expect.stringMatching(/^tg-\w+\n$/) })
    const secret = made.output.trim()
    expect(await ask(secret, 'demo-chat')).toBe(200)

    const listed = await run('keys', 'list', '--search', 'first-of', '--json')
    expect(listed.output).not.toContain(secret)
    expect(jsonLines(listed.output)).toMatchObject([
      { tenant: 'default', name: 'first-of-all', limits: { requests_per_minute: 60 } },
    ])
    expect((await run('keys', 'list')).output).toMatch(/^key .*\n(.*\n)*default\/first-of-all +default/)

    const rotated = await run('keys', 'rotate', 'default/first-of-all', '--grace', '600', '--json')
    const next: { secret: string } = JSON.parse(rotated.output)
    expect([await ask(secret, 'demo-chat'), await ask(next.secret, 'demo-chat')]).toEqual([200, 200])

    // No one is there to say yes.
    expect(await run('keys', 'revoke', 'default/first-of-all')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('--yes'),
    })
    expect(await ask(next.secret, 'demo-chat')).toBe(200)
    expect(await run('keys', 'revoke', 'default/first-of-all', '--yes')).toMatchObject({ code: 0 })
    await expect.poll(() => ask(next.secret, 'demo-chat')).toBe(401)
    expect((await run('keys', 'list', '--search', 'first-of')).output).toBe('')
    expect((await run('keys', 'list', '--search', 'first-of', '--all')).output).toContain('revoked')

    const audit = await operatorClient(gateway.url)('GET', 'audit?limit=10')
    for (const action of ['key.make', 'key.rotate', 'key.revoke']) expect(audit.text).toContain(action)
  })

  test('what the gateway refuses is exit code 4, in its words; a wrong setting is 2', async () => {
    expect(await run('keys', 'revoke', 'default/nobody', '--yes')).toMatchObject({
      code: 4,
      errors: expect.stringContaining('key "default/nobody" does not exist'),
    })
    await run('keys', 'create', 'default', 'twice')
    expect(await run('keys', 'create', 'default', 'twice')).toMatchObject({
      code: 4,
      output: '',
      errors: expect.stringContaining('already has a key "twice"'),
    })
    expect(await run('keys', 'create', 'default', 'x', '--set', 'limits.concurrency=0')).toMatchObject({
      code: 2,
      errors: expect.stringContaining('limits.concurrency'),
    })
  })
})

describe('the token', () => {
  test('comes from a file or standard input as well, and a wrong one is exit code 4', async () => {
    const url = ['--url', gateway.url]
    const file = join(folder, 'token')
    writeFileSync(file, `${adminToken}\n`)
    expect(await runTollgate(['keys', 'list', ...url, '--token-file', file], {})).toMatchObject({ code: 0 })
    const piped = runTollgate(['keys', 'list', ...url, '--token-file', '-'], {}, { input: adminToken })
    expect(await piped).toMatchObject({ code: 0 })
    const wrong = await runTollgate(['keys', 'list', ...url], { TOLLGATE_TOKEN: 'another-token-of-16' })
    expect(wrong).toMatchObject({ code: 4, errors: expect.stringContaining('did not accept the token') })
  })

  test('of a viewer may look, and may not change; --env-file names it too', async () => {
    const client = operatorClient(gateway.url)
    const made = await client('POST', 'api-tokens', {
      name: 'viewer',
      role: 'viewer',
      scopes: ['keys:read', 'money:read'],
    })
    const file = join(folder, 'env')
    writeFileSync(file, `TOLLGATE_TOKEN=${String(made.body.token)}\nTOLLGATE_URL=${gateway.url}\n`)
    expect(await runTollgate(['keys', 'list', '--env-file', file], {})).toMatchObject({ code: 0 })
    const booked = await runTollgate(['--env-file', file, 'topup', 'default', '1'], {})
    expect(booked).toMatchObject({ code: 4, output: '' })
    expect(booked.errors).toMatch(/^tollgate topup: /)
  })
})

describe('topup', () => {
  test('books once for its id, and shows the balance', async () => {
    const id = '0d3c3f6e-5f2a-4b6e-9a57-0a6f0a1b2c3d'
    const first = await run('topup', 'default', '25.50', '--id', id, '--note', 'by hand', '--json')
    expect(JSON.parse(first.output)).toMatchObject({ tenant: 'default', entry: { id, amount_usd: '25.5' } })
    const again = await run('topup', 'default', '25.50', '--id', id, '--note', 'by hand')
    expect(again).toMatchObject({ code: 0, output: expect.stringContaining(`as ${id}. Balance: $`) })
    const taken = await run('topup', 'default', '--adjustment', '--json', '--', '-0.50')
    expect(JSON.parse(taken.output).entry).toMatchObject({ kind: 'adjustment', amount_usd: '-0.5' })
    const entries = await operatorClient(gateway.url)('GET', 'tenants/default/entries')
    expect(entries.text.match(/"top_up"/g)).toHaveLength(1)
  })

  test('for an unknown tenant is exit code 4; where no one answers, 3 with the id to repeat it by', async () => {
    expect(await run('topup', 'nobody', '1')).toMatchObject({ code: 4 })
    const lost = await runTollgate(['topup', 'acme', '1', '--url', 'http://127.0.0.1:9999'], {
      TOLLGATE_TOKEN: adminToken,
    })
    expect(lost.code).toBe(3)
    expect(lost.errors).toContain('the gateway at http://127.0.0.1:9999 does not respond')
    expect(lost.errors).toMatch(/Run the same command again with --id [0-9a-f-]{36}/)
  })
})

describe('logs', () => {
  test('find shows rows as lines or JSON, the newest first, with the filters of the API', async () => {
    const secret = (await run('keys', 'create', 'default', 'finder')).output.trim()
    await ask(secret, 'demo-chat')
    await ask(secret, 'no-such-model')
    const found = await run('logs', 'find', 'key=finder', '--from', '1h', '--json')
    expect(jsonLines(found.output)).toMatchObject([
      { requested_model: 'no-such-model', status: 404, outcome: 'refused' },
      { requested_model: 'demo-chat', status: 200, key: { name: 'finder' } },
    ])
    const refused = await run('logs', 'find', 'key=finder', 'not_status=200')
    expect(refused.output.split('\n')).toEqual([
      expect.stringMatching(/^time \(UTC\) +tenant\/key +model/),
      expect.stringMatching(/ default\/finder +no-such-model +- +404 refused /),
      expect.stringMatching(/^ +\w+: Model "no-such-model" does not exist/),
      '',
    ])
    const one = await run('logs', 'find', 'key=finder', '--limit', '1')
    expect(one.errors).toContain('Showing 1 rows. There may be more')
    expect(await run('logs', 'find', 'key=nobody-has-it')).toMatchObject({
      code: 0,
      output: '',
      errors: 'No rows match.\n',
    })
    expect(await run('logs', 'find', 'status=many')).toMatchObject({
      code: 2,
      errors: expect.stringContaining('status: expected a status such as 404'),
    })
  })

  test('tail follows through a restart of the gateway, misses no row, and ends at Ctrl-C', async () => {
    const secret = (await run('keys', 'create', 'default', 'follower')).output.trim()
    const tail = beginTollgate(['logs', 'tail', 'key=follower', '--json'], environment())
    const models = () => jsonLines(tail.output()).map((row) => row.requested_model)
    // It shows what comes after it has begun.
    await until(async () => {
      await ask(secret, 'demo-chat')
      return tail.output() !== ''
    })
    await gateway.stop()
    await until(() => tail.errors().includes('is not responding'))
    gateway = await startGateway()
    await ask(secret, 'after-the-restart')
    await until(() => models().includes('after-the-restart'))
    expect(tail.errors()).toContain('is responding again; resuming where the output stopped')
    tail.child.kill('SIGINT')
    expect(await tail.ended).toBe(130)
    const rows = await run('logs', 'find', 'key=follower', '--json')
    const ids = jsonLines(tail.output()).map((row) => row.id)
    expect(new Set(ids).size).toBe(ids.length)
    const since = jsonLines(rows.output).slice(0, ids.length)
    expect(since.map((row) => row.id).reverse()).toEqual(ids)
  })

  test('a reader that leaves early, as head does, ends it with 141 and without a word', async () => {
    const find = beginTollgate(['logs', 'find', '--json'], environment())
    find.child.stdout?.destroy()
    expect(await find.ended).toBe(141)
    expect(find.errors()).not.toMatch(/EPIPE|Error|\n\s+at /)
  })
})

test('probe waits for the runs, shows what they found, and says by its exit code whether all is well', async () => {
  const probed = await run('probe', 'demo', 'demo-chat', '--protocol', 'openai-chat')
  expect(probed.code, probed.errors).toBe(0)
  expect(probed.output).toMatch(/✓ simple request \* +ok/)
  expect(probed.output).toContain('The run cost $')
  expect(await run('probe', 'no-such-channel', 'demo-chat')).toMatchObject({
    code: 2,
    errors: expect.stringContaining('no enabled channel has this name'),
  })
})
