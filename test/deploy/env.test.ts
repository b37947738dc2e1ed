import { spawn, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'

/** `sh deploy/compose/env.sh`, in a checkout that has no more than its files, with a shell and coreutils. */

const root = resolve(import.meta.dirname, '../..')
const script = 'deploy/compose/env.sh'
let checkout: string

beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'tollgate-env-'))
  onTestFinished(() => rmSync(checkout, { recursive: true, force: true }))
  mkdirSync(join(checkout, 'deploy/compose'), { recursive: true })
  for (const file of ['.env.example', script]) copyFileSync(join(root, file), join(checkout, file))
})

const path = ['/usr/bin', '/bin'].join(delimiter)
const run = (programs = path) =>
  spawnSync('/bin/sh', [join(checkout, script)], { cwd: tmpdir(), env: { PATH: programs }, encoding: 'utf8' })
const read = (file: string) => readFileSync(join(checkout, file), 'utf8')
const write = (file: string, text: string) => writeFileSync(join(checkout, file), text)
const leftovers = () =>
  readdirSync(checkout).filter((name) => name.startsWith('.env.') && name !== '.env.example')
const variablesOf = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/^([A-Z0-9_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  )

test('all that docker-compose.yml demands has a value, each secret another one, which only the owner reads', () => {
  expect(run()).toMatchObject({ status: 0, stderr: '' })
  const [made, example] = [variablesOf(read('.env')), variablesOf(read('.env.example'))]
  const compose = readFileSync(join(root, 'docker-compose.yml'), 'utf8')
  const demanded = new Set([...compose.matchAll(/\$\{([A-Z0-9_]+):\?/g)].map(([, name = '']) => name))
  expect(demanded.size).toBeGreaterThan(3)
  for (const name of demanded) expect(made[name], name).toBeTruthy()
  const secrets = Object.keys(made).filter((name) => made[name] !== example[name])
  for (const name of secrets) expect(made[name], name).toMatch(/^[0-9a-f]{64}$/)
  expect(new Set(secrets.map((name) => made[name])).size).toBe(secrets.length)
  const emptied = read('.env').replace(/=[0-9a-f]{64}$/gm, '=')
  expect(emptied).toBe(read('.env.example'))
  expect(statSync(join(checkout, '.env')).mode & 0o777).toBe(0o600)
  expect(leftovers()).toEqual([])
})

test('two checkouts have no secret in common', () => {
  run()
  const first = variablesOf(read('.env'))
  rmSync(join(checkout, '.env'))
  run()
  const second = variablesOf(read('.env'))
  const same = Object.keys(first).filter((name) => first[name]?.length === 64 && first[name] === second[name])
  expect(same).toEqual([])
})

test('its end says what to run next, and where base URL, first call and link are found', () => {
  const { stdout } = run()
  for (const command of ['docker compose up --build --wait', 'sh deploy/compose/greeting.sh'])
    expect(stdout).toContain(command)
  expect(stdout).toMatch(/base URL.*first key.*first call.*first owner/)
})

test('a .env that is there stays as it is, and the way on is said', () => {
  write('.env', 'SECRET_KEY=mine\nPOSTGRES_PASSWORD=\nREDIS_PASSWORD=too\nS3_SECRET_ACCESS_KEY=\r\n')
  const before = read('.env')
  const { status, stdout, stderr } = run()
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toContain('was not changed')
  expect(stderr).toMatch(/\nPOSTGRES_PASSWORD=\nS3_SECRET_ACCESS_KEY=/)
  expect(stderr).not.toMatch(/^(SECRET_KEY|REDIS_PASSWORD)=/m)
  expect(stderr).toContain('docker compose up --build --wait')
  expect(read('.env')).toBe(before)
})

test('a link without a target is a .env, too', () => {
  symlinkSync('nowhere', join(checkout, '.env'))
  expect(run().status).toBe(1)
  expect(readdirSync(checkout)).not.toContain('nowhere')
})

test('of many runs at once, one makes it, and the others fail', async () => {
  const statuses = await Promise.all(
    Array.from({ length: 8 }, () => {
      const child = spawn('/bin/sh', [join(checkout, script)], { env: { PATH: path }, stdio: 'ignore' })
      return new Promise<number | null>((done) => child.once('exit', done))
    }),
  )
  expect(statuses.filter((status) => status === 0)).toHaveLength(1)
  expect(read('.env').match(/=[0-9a-f]{64}$/gm)).toHaveLength(4)
  expect(leftovers()).toEqual([])
})

test('without random bytes nothing is made', () => {
  const broken = join(checkout, 'bin')
  mkdirSync(broken)
  writeFileSync(join(broken, 'od'), '#!/bin/sh\necho 00\n', { mode: 0o755 })
  const { status, stderr } = run([broken, path].join(delimiter))
  expect(status).toBe(1)
  expect(stderr).toContain('no random bytes')
  expect(readdirSync(checkout).filter((name) => name.startsWith('.env'))).toEqual(['.env.example'])
})

test('git does not see what it makes', () => {
  const ignored = spawnSync('git', ['check-ignore', '.env', '.env.4711', 'caddy.crt', '.env.example'], {
    cwd: root,
    encoding: 'utf8',
  })
  expect(ignored.stdout).toBe('.env\n.env.4711\ncaddy.crt\n')
})
