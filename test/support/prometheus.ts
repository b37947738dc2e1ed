import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { ownPort } from './own-port.ts'
import { until } from './until.ts'

export const deploy = resolve(import.meta.dirname, '../../deploy')

/** Debian's Prometheus with the configuration in deploy/prometheus, which scrapes other addresses, and more often. */
export interface PrometheusServer {
  url: string
  /** The result of a query now; throws when Prometheus refuses it. */
  query(expression: string): Promise<{ metric: Record<string, string>; value: number }[]>
  /** GET an API path below `/api/v1`. Returns its `data`. */
  get(path: string): Promise<unknown>
  /** Wait until all targets have answered so often from now on. */
  scraped(times: number): Promise<void>
  close(): Promise<void>
}

/** It is also the time that Prometheus gives an answer, and a supervisor may wait for a second. */
const scrapeMs = 2_000

export async function startPrometheus(targets: readonly string[]): Promise<PrometheusServer> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-prometheus-'))
  const config = readFileSync(join(deploy, 'prometheus/prometheus.yml'), 'utf8')
    .replaceAll('15s', `${scrapeMs}ms`)
    .replace('alerts.yml', join(deploy, 'prometheus/alerts.yml'))
    .replace(/targets: \[.*:9464.*\]/, `targets: ${JSON.stringify(targets)}`)
  writeFileSync(join(folder, 'prometheus.yml'), config)
  const port = await ownPort()
  const url = `http://127.0.0.1:${port}`
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  process.once('exit', () => child.kill('SIGKILL'))
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const get = async (path: string): Promise<unknown> => {
    const answer = await fetch(`${url}/api/v1/${path}`)
    const { status, data, error } = (await answer.json()) as { status: string; data: unknown; error?: string }
    if (status !== 'success') throw new Error(`Prometheus: ${error}: ${path}`)
    return data
  }
  const query: PrometheusServer['query'] = async (expression) => {
    const { result } = (await get(`query?query=${encodeURIComponent(expression)}`)) as {
      result: { metric: Record<string, string>; value: [number, string] }[]
    }
    return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }))
  }
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`Prometheus has ended.\n${errors}`)
    return await fetch(`${url}/-/ready`).then(
      ({ status }) => status === 200,
      () => false,
    )
  })
  return {
    url,
    query,
    get,
    async scraped(times) {
      const count = async () => {
        const rows = await query(`sum_over_time(up{job="tollgate"}[1h])`)
        return rows.length < targets.length ? 0 : Math.min(...rows.map(({ value }) => value))
      }
      const before = await count()
      await until(async () => (await count()) >= before + times, 60_000)
    },
    async close() {
      child.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Run promtool. Returns what it says; `input`: its standard input. */
export function promtool(words: readonly string[], input = ''): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', words, { input, encoding: 'utf8' })
  return { status, output: `${stdout}${stderr}` }
}
