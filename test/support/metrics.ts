import type { Reached } from './bed.ts'
import { until } from './until.ts'

/** One line of an answer. */
interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

/** One answer of `/metrics`. */
export interface Scrape {
  text: string
  contentType: string | null
  samples: Sample[]
  /** The types of all metrics, by name. */
  types: Map<string, string>
  /** The sum of the samples with this name and these labels; undefined: there are none. */
  value(name: string, labels?: Record<string, string>): number | undefined
}

/** The address of a process that was started with METRICS_PORT=0. */
export async function metricsUrl(tollgate: Reached): Promise<string> {
  const port = await until(
    async () => /"port":(\d+),"msg":"serving metrics"/.exec(tollgate.stderr())?.[1],
    30_000,
  )
  return `http://127.0.0.1:${port}/metrics`
}

export async function scrape(url: string): Promise<Scrape> {
  const answer = await fetch(url)
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}: ${text}`)
  const lines = text.split('\n')
  const samples = lines.filter((line) => line !== '' && !line.startsWith('#')).map(sampleOf)
  const types = lines.flatMap((line) => {
    const [, name = '', type = ''] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? []
    return name === '' ? [] : [[name, type] as const]
  })
  return {
    text,
    contentType: answer.headers.get('content-type'),
    samples,
    types: new Map(types),
    value(name, labels = {}) {
      const found = samples.filter(
        (sample) =>
          sample.name === name &&
          Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
      )
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
    },
  }
}

function sampleOf(line: string): Sample {
  const [, name = '', , labels = '', value = ''] = /^([a-z_]+)(\{(.*)\})? (\S+)$/.exec(line) ?? []
  if (name === '') throw new Error(`no line of the text format: ${line}`)
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', text = '']) => [
    label,
    text.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped)),
  ])
  return { name, labels: Object.fromEntries(pairs), value: Number(value) }
}
