import type { ImageCpu } from './image-rig.ts'
import type { ImageSample, Spread } from './image-sample.ts'
import { tableOf } from './table.ts'

const sampleHead = [
  'queue on',
  'window',
  'round',
  'scenario',
  'jobs',
  'jobs/s',
  'submit ms',
  'queue ms',
  'run ms',
  'API',
  'workers',
  'Postgres',
  'Redis',
  'all us/job',
]

export function sampleCells(sample: ImageSample): string[] {
  return [
    String(sample.jobs),
    figure(sample.jobsPerSecond),
    spread(sample.submit),
    spread(sample.queue),
    spread(sample.run),
    ...cpuCells(sample.cpuUsPerJob),
  ]
}

/** The cells of an idle second, in the same columns. */
export function idleCells(cpu: ImageCpu): string[] {
  return ['', '', '', '', '', ...cpuCells(cpu)]
}

/** The first four columns are names, the rest figures. */
export function tableOfSamples(rows: readonly (readonly string[])[]): string {
  return tableOf([sampleHead, ...rows], (column) => column >= 4)
}

function cpuCells({ api, workers, postgres, redis }: ImageCpu): string[] {
  const all = api + workers + postgres + (Number.isNaN(redis) ? 0 : redis)
  return [api, workers, postgres, redis, all].map(figure)
}

function spread({ p50, p99 }: Spread): string {
  return `${figure(p50)} / ${figure(p99)}`
}

function figure(value: number): string {
  if (Number.isNaN(value)) return ''
  return value >= 100 ? value.toFixed(0) : value.toFixed(1)
}
