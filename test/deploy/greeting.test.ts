import { execFile } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { makeCertificate } from '../support/certificate.ts'
import { emptyDatabase } from '../support/database.ts'
import { newKeyIn } from '../support/document-run.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'

/**
 * `sh deploy/compose/greeting.sh` and what a newcomer pastes from it. In the place of `docker` is a program that
 * prints the logs of a real gateway.
 */

const root = resolve(import.meta.dirname, '../..')
const { services }: { services: Record<string, unknown> } = parse(
  readFileSync(join(root, 'docker-compose.yml'), 'utf8'),
  { merge: true },
)
const run = promisify(execFile)

/** Takes no service that docker-compose.yml does not have. */
const docker = `#!/bin/sh
[ "$1" = compose ] || exit 1
case $2 in
  logs) shift 2; for word; do case $word in --*) ;; *) cat "$LOGS/$word" || exit 1 ;; esac; done ;;
  exec) [ "$4" = caddy ] && [ "$6" = /data/caddy/pki/authorities/local/root.crt ] && cat "$LOGS/root.crt" ;;
esac
`

async function newcomer() {
  const checkout = mkdtempSync(join(tmpdir(), 'tollgate-newcomer-'))
  onTestFinished(() => rmSync(checkout, { recursive: true, force: true }))
  const [logs, bin] = [join(checkout, 'logs'), join(checkout, 'bin')]
  for (const folder of [logs, bin, join(checkout, 'deploy/compose')]) mkdirSync(folder, { recursive: true })
  copyFileSync(join(root, 'deploy/compose/greeting.sh'), join(checkout, 'deploy/compose/greeting.sh'))
  writeFileSync(join(bin, 'docker'), docker, { mode: 0o755 })
  const log = (service: string, text: string) => writeFileSync(join(logs, service), text)
  for (const service of Object.keys(services)) log(service, '{"level":30,"msg":"listening"}\n')
  const env = { PATH: [bin, process.env.PATH].join(delimiter), LOGS: logs, HOME: checkout }
  return {
    checkout,
    log,
    show: () => run('/bin/sh', [join(checkout, 'deploy/compose/greeting.sh')], { cwd: tmpdir(), env }),
    paste: (text: string) => run('/bin/sh', ['-ec', text], { cwd: checkout, env }),
  }
}

/** As in a container. */
async function gatewayWith(env: Record<string, string> = {}): Promise<Gateway> {
  const { url, drop } = await emptyDatabase()
  const gateway = await startGateway({
    databaseUrl: url,
    gatewayYaml: undefined,
    env: { HOST: '0.0.0.0', PLAIN_HTTP: 'allow', PAGES: 'console', ...env },
  })
  onTestFinished(async () => {
    await gateway.stop()
    await drop()
  })
  return gateway
}

test('after the first start it shows base URL, key, calls and link; the calls work through TLS as they stand there', async () => {
  const { checkout, log, show, paste } = await newcomer()
  const { cert, key } = makeCertificate('localhost')
  const files = { TLS_CERT: join(checkout, 'cert.pem'), TLS_KEY: join(checkout, 'key.pem') }
  writeFileSync(files.TLS_CERT, cert)
  writeFileSync(files.TLS_KEY, key)
  const gateway = await gatewayWith(files)
  log('gateway-1', `${gateway.stderr()}${gateway.stdout()}\n${gateway.stderr()}`)

  const early = expect.stringContaining('Caddy has no certificate yet. Run this again')
  await expect(show()).rejects.toMatchObject({ code: 1, stdout: '', stderr: early })
  log('root.crt', cert)
  const { stdout, stderr } = await show()
  expect(stderr).toBe('')
  expect(stdout).toContain(`base URL: https://localhost:${gateway.port}/v1\nnew key (shown only once): tg-`)
  expect(stdout).toMatch(/^Open https:\/\/localhost:\d+\/console\/link#tgl_\w+ to create the first owner/m)
  expect(stdout).not.toContain('"level"')
  const calls = stdout.slice(stdout.indexOf('curl '), stdout.indexOf('\nOpen '))
  const answer = await paste(calls)
  expect(answer.stdout).toContain('data: [DONE]')
  expect(answer.stdout).toMatch(/"requested_model":"demo-chat".*"status":200/)
})

test('the key is in the calls also if another process made it, and after gateway-1 was started again', async () => {
  const { log, show, checkout } = await newcomer()
  const { url, drop } = await emptyDatabase()
  onTestFinished(drop)
  const env = {
    PUBLIC_URL: 'https://gateway.example.com/',
    HOST: '0.0.0.0',
    PLAIN_HTTP: 'allow',
    PAGES: 'console',
  }
  const start = () => startGateway({ databaseUrl: url, gatewayYaml: undefined, env })
  const first = await start()
  const made = newKeyIn(first.stdout()) ?? ''
  expect(made).toMatch(/^tg-/)
  await first.stop()
  const second = await start()
  onTestFinished(() => second.stop())
  log(
    'worker-2',
    `The Tollgate worker is running.\nnew key (shown only once): ${made}  (tenant default, key first)\n`,
  )
  const old = second.stdout().replaceAll('tgl_', 'tgl_old')
  log('gateway-1', `${old}\n{"msg":"ended"}\n${second.stdout()}\n`)

  const { stdout } = await show()
  expect(stdout.match(/^curl .*authorization: Bearer (\S+)'/m)?.[1]).toBe(made)
  expect(stdout).not.toMatch(/YOUR_KEY|tgl_old/)
  expect(stdout.match(/base URL: \S+|new key \S+/g)).toEqual([
    'base URL: https://gateway.example.com/v1',
    'new key (shown',
  ])
  // A certificate that everyone trusts.
  expect(stdout).not.toContain('caddy.crt')
  expect(existsSync(join(checkout, 'caddy.crt'))).toBe(false)

  log('worker-2', '')
  const later = await show()
  expect(later.stdout).toContain('Bearer YOUR_KEY')
  expect(later.stdout).toContain('Make another one in the console.')
})

test('before gateway-1 serves, it says where to look', async () => {
  const { show } = await newcomer()
  await expect(show()).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('docker compose ps'),
  })
})
