import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { readConfig, variableOf } from '../../src/config/config.ts'
import { repository } from '../support/former-release.ts'
import { toolsPath } from '../support/machine.ts'
import { patienceMs } from '../support/until.ts'
import {
  composeFile,
  composeText,
  filled,
  networks,
  ours,
  services,
  variables,
  volumes,
} from './compose-file.ts'

/** docker-compose.yml, held against the types of compose files and the gateway's own settings. containers.test.ts starts its parts. */

const entrypointOf = (value: unknown) =>
  z.looseObject({ entrypoint: z.array(z.string()) }).parse(value).entrypoint

test('docker-compose.yml is what the schema of compose files asks for', () => {
  const faults = spawnSync('node', [join(toolsPath, 'compose-faults.cjs')], {
    input: JSON.stringify(composeFile),
    encoding: 'utf8',
  })
  expect(faults).toMatchObject({ stdout: '', stderr: '', status: 0 })
})

test('.env.example has each variable that docker-compose.yml reads, and no other', () => {
  const read = new Set([...composeText.matchAll(/\$\{([A-Z0-9_]+)/g)].map(([, name]) => name))
  expect([...read].sort()).toEqual(Object.keys(variables).sort())
})

test('two gateways and two workers start with settings that the gateway takes', () => {
  const roles = ours.map(([, { environment }]) => environment.ROLE)
  expect(roles.sort()).toEqual(['api', 'api', 'worker', 'worker'])
  const { bounds, ...settings } = readConfig({})
  const known = Object.keys({ ...settings, ...bounds }).map(variableOf)
  for (const [name, { environment, stop_grace_period }] of ours) {
    for (const variable of Object.keys(environment))
      expect(known, `${name} sets ${variable}`).toContain(variable)
    const image = { HOST: '0.0.0.0', DATA_DIR: '/data' }
    const set = Object.fromEntries(
      Object.entries(environment).map(([variable, value]) => [variable, filled(value)]),
    )
    const { shutdownDelayMs, drainOnShutdownMs } = readConfig({ ...image, ...set }).bounds
    // A process ends itself 25 s after both, and a supervisor its processes after 30 s.
    expect(Number.parseInt(stop_grace_period ?? '', 10)).toBeGreaterThan(
      (shutdownDelayMs + drainOnShutdownMs) / 1000 + 30,
    )
  }
})

test('each of our containers has a disk of its own, and writes nowhere else', () => {
  const disks = ours.map(([, service]) => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
    return service.volumes.find((volume) => volume.endsWith(':/data'))
  })
  expect(disks).not.toContain(undefined)
  expect(new Set(disks).size).toBe(ours.length)
})

test('one service builds the image, and the others never look for it in a registry', () => {
  const made = ours.map(([name, { build, pull_policy }]) => [name, build ?? pull_policy])
  expect(made).toEqual([
    ['gateway-1', '.'],
    ['gateway-2', 'never'],
    ['worker-1', 'never'],
    ['worker-2', 'never'],
  ])
})

test('the network whose members may say which address a client has is that of Caddy and the gateways', () => {
  const members = Object.entries(services).filter(([, { networks }]) => networks.includes('outside'))
  expect(members.map(([name]) => name).sort()).toEqual(['caddy', 'gateway-1', 'gateway-2'])
  const { subnet } = z
    .looseObject({ ipam: z.object({ config: z.tuple([z.object({ subnet: z.string() })]) }) })
    .parse(networks.outside).ipam.config[0]
  for (const [, { environment }] of ours.filter(([name]) => name.startsWith('gateway')))
    expect(environment.TRUSTED_PROXIES).toBe(subnet)
})

test('the bucket is asked for until it is there, and again at the next start', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-weed-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  // The shell of the store: it ends well whatever happens, and knows no part that could make a bucket at its first call.
  const weed = `#!/bin/sh
read command
[ -e called ] || { : >called; exit 0; }
case $command in
  's3.bucket.list') [ ! -e made ] || echo '  tollgate size:0' ;;
  's3.bucket.create -name tollgate') if [ -e tried ]; then : >made; else : >tried; fi ;;
esac
`
  writeFileSync(join(folder, 'weed'), weed, { mode: 0o755 })
  writeFileSync(join(folder, 'sleep'), '#!/bin/sh\n', { mode: 0o755 })
  const [program = '', ...words] = entrypointOf(services.bucket)
  for (const _ of ['the first start', 'a later one']) {
    const run = spawnSync(program, words, {
      cwd: folder,
      env: { PATH: `${folder}:${process.env.PATH}` },
      timeout: patienceMs,
    })
    expect(run.status).toBe(0)
    expect(existsSync(join(folder, 'made'))).toBe(true)
  }
})

test('the files that Dockerfile, compose file and chart name in their comments are there', () => {
  const files = ['Dockerfile', 'docker-compose.yml', '.env.example', 'deploy/compose/Caddyfile']
  const chart = ['README.md', 'values.yaml'].map((name) => `deploy/helm/tollgate/${name}`)
  for (const file of [...files, ...chart]) {
    const said = readFileSync(join(repository, file), 'utf8')
    const named = said.match(/(?<![\w./-])(?:docs|test|packaging|deploy)\/[\w./-]+\.(?:ts|mjs|md)\b/g) ?? []
    for (const name of named) expect(existsSync(join(repository, name)), `${file} names ${name}`).toBe(true)
  }
})

test('what a service names exists', () => {
  for (const [name, service] of Object.entries(services)) {
    for (const other of Object.keys(service.depends_on)) expect(services, name).toHaveProperty([other])
    for (const network of service.networks) expect(networks, name).toHaveProperty([network])
    for (const volume of service.volumes) {
      const [source = ''] = volume.split(':')
      if (!source.startsWith('.')) expect(volumes, name).toHaveProperty([source])
    }
  }
})
