import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Finding } from '../../src/canonical/finding.ts'
import { doctor } from '../../src/commands/doctor.ts'
import { runCommand } from '../../src/commands/run-command.ts'
import { openConnections } from '../../src/db/connections.ts'
import { prepareKeeper } from '../../src/secrets/open-masters.ts'
import { makeCertificate } from './certificate.ts'
import { freshDatabase } from './database.ts'
import { ownPort } from './own-port.ts'
import { runTollgate, type TollgateRun } from './run-tollgate.ts'
import { type ScriptedUpstream, startUpstream } from './upstream.ts'

/** A user with no rights, which every Linux has. */
export const nobody = 65_534

/** An installation in which nothing is wrong: a database in use, a channel that answers, a certificate, free ports. */
export interface DoctorBed {
  folder: string
  databaseUrl: string
  upstream: ScriptedUpstream
  env: Record<string, string>
  /** `tollgate doctor --json` with these variables in place of its own. An empty text: without the variable. */
  diagnose(
    changed?: Record<string, string>,
    options?: { uid?: number; args?: readonly string[] },
  ): Promise<Diagnosis>
  close(): Promise<void>
}

export interface Diagnosis {
  code: number | null
  /** The codes of what is wrong. */
  wrong: string[]
  warnings: string[]
  finding(code: string): (Finding & { do?: string }) | undefined
  /** All that was printed. */
  text: string
}

export const secretKey = 'a-secret-key-for-tests-and-nothing-else'
/** Nothing that the doctor prints may have one of these. */
export const secrets = [secretKey, 'hunter2', 'a-credential-0001', 'another-secret-key']

const credential = 'a-credential-0001'

export async function startDoctorBed(): Promise<DoctorBed> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-doctor-'))
  chmodSync(folder, 0o755)
  const { url: databaseUrl, drop } = await freshDatabase()
  const { sql, end } = openConnections(databaseUrl, { max: 1 })
  await prepareKeeper(sql, { secretKey })
  await end()
  const upstream = await startUpstream()
  upstream.script(({ headers }) =>
    headers.authorization === `Bearer ${credential}`
      ? { body: '{"object":"list","data":[{"id":"gpt-main","object":"model"}]}' }
      : {
          status: 401,
          body: `{"error":{"message":"Incorrect API key provided: ${String(headers.authorization)}"}}`,
        },
  )
  const file = (name: string, text: string) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  const { cert, key } = makeCertificate('localhost', Date.now() + 60 * 24 * 3600 * 1000)
  mkdirSync(join(folder, 'data'))
  const env = {
    DATABASE_URL: databaseUrl,
    SECRET_KEY: secretKey,
    DATA_DIR: join(folder, 'data'),
    PORT: String(await ownPort()),
    METRICS_PORT: '0',
    CONNECTIONS_MAX: '100',
    IN_FLIGHT_MAX: '100',
    TLS_CERT: file('cert.pem', cert),
    TLS_KEY: file('key.pem', key),
    PUBLIC_URL: 'https://localhost',
    GATEWAY_CONFIG: file('gateway.yaml', gatewayYaml(upstream.url)),
    MAIN_KEY: credential,
  }
  return {
    folder,
    databaseUrl,
    upstream,
    env,
    async diagnose(changed = {}, { uid, args = [] } = {}) {
      const used = Object.entries({ ...env, ...changed }).filter(([, value]) => value !== '')
      const words = ['doctor', '--json', ...args]
      const run =
        uid === undefined
          ? await runHere(words, Object.fromEntries(used))
          : await runTollgate(words, Object.fromEntries(used), { uid })
      expect(run.errors).toBe('')
      const { findings }: { findings: Finding[] } = JSON.parse(run.output)
      const codes = (verdict: string) =>
        findings.filter((one) => one.verdict === verdict).map(({ code }) => code)
      return {
        code: run.code,
        wrong: codes('wrong'),
        warnings: codes('warning'),
        finding: (code) => findings.find((one) => one.code === code),
        text: run.output,
      }
    },
    async close() {
      await upstream.close()
      await drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** In this process, which is faster. */
async function runHere(args: readonly string[], env: Record<string, string>): Promise<TollgateRun> {
  const texts = { stdout: '', stderr: '' }
  const into = (name: keyof typeof texts) => ({
    write(text: string) {
      texts[name] += text
    },
  })
  const streams = { env, stdin: process.stdin, stdout: into('stdout'), stderr: into('stderr') }
  const code = await runCommand([doctor], args, streams, new AbortController().signal)
  return { code, output: texts.stdout, errors: texts.stderr }
}

export function gatewayYaml(url: string, { allow = true } = {}): string {
  return `models: [{ id: gpt-main }]
channels:
  - { name: main, protocols: { openai-chat: "${url}" }, api_keys: ["\${MAIN_KEY}"], models: [gpt-main], allow_private_address: ${allow} }
groups:
  - { name: default, models: ['*'], channels: ['*'] }
`
}
