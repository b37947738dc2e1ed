import { readdir, readFile } from 'node:fs/promises'
import { constants, monitorEventLoopDelay, PerformanceObserver, performance } from 'node:perf_hooks'
import { declared } from '../telemetry/metrics/declarations.ts'
import type { Metrics } from '../telemetry/metrics/store.ts'

const resolutionMs = 20
/** The delay of the event loop is that of the last such time: so it does not depend on who asks, and how often. */
const windowMs = 10_000

const gcKinds: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weak_callbacks',
}

/** What Node and the system say of this process: event loop, garbage collection, memory, CPU, files. Until `stop`. */
export function measureRuntime(metrics: Metrics): { stop(): void } {
  const delays = measureDelays(metrics)
  const collections = countCollections(metrics)
  const set = (of: 'heapUsed' | 'external' | 'resident' | 'startedAt', value: number) => {
    metrics.cells(declared[of]).at().value = value
  }
  const startedAt = performance.timeOrigin / 1_000
  metrics.collect(() => {
    const { rss, heapUsed, external } = process.memoryUsage()
    set('resident', rss)
    set('heapUsed', heapUsed)
    set('external', external)
    set('startedAt', startedAt)
    const { user, system } = process.cpuUsage()
    metrics.cells(declared.cpu).at().value = user + system
    metrics.cells(declared.loopBusy).at().value = performance.eventLoopUtilization().active
  })
  metrics.collect(() => countFiles(metrics))
  return {
    stop() {
      delays.stop()
      collections.disconnect()
    },
  }
}

function measureDelays(metrics: Metrics): { stop(): void } {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs })
  histogram.enable()
  let last: Record<string, number> = {}
  const read = () => {
    if (histogram.count === 0) return
    // It measures from tick to tick of its timer.
    const seconds = (ns: number) => Math.max(0, ns / 1e9 - resolutionMs / 1_000)
    last = {
      p50: seconds(histogram.percentile(50)),
      p99: seconds(histogram.percentile(99)),
      max: seconds(histogram.max),
    }
  }
  const timer = setInterval(() => {
    read()
    histogram.reset()
  }, windowMs).unref()
  metrics.collect(() => {
    if (Object.keys(last).length === 0) read()
    for (const [statistic, seconds] of Object.entries(last))
      metrics.cells(declared.loopDelay).at(statistic).value = seconds
  })
  return {
    stop() {
      clearInterval(timer)
      histogram.disable()
    },
  }
}

function countCollections(metrics: Metrics): PerformanceObserver {
  const series = Object.fromEntries(
    Object.entries(gcKinds).map(([kind, name]) => [
      kind,
      { seconds: metrics.cells(declared.gcSeconds).at(name), runs: metrics.cells(declared.gcRuns).at(name) },
    ]),
  )
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const of = series[kindOf(entry)]
      if (of === undefined) continue
      of.seconds.value += entry.duration
      of.runs.value += 1
    }
  })
  observer.observe({ entryTypes: ['gc'] })
  return observer
}

function kindOf(entry: object): number {
  const detail = 'detail' in entry ? entry.detail : undefined
  return typeof detail === 'object' && detail !== null && 'kind' in detail ? Number(detail.kind) : -1
}

/** Linux alone says it. */
async function countFiles(metrics: Metrics): Promise<void> {
  metrics.cells(declared.openFiles).at().value = (await readdir('/proc/self/fd')).length
  const limits = await readFile('/proc/self/limits', 'utf8')
  const most = /^Max open files\s+(\d+)/m.exec(limits)?.[1]
  if (most !== undefined) metrics.cells(declared.openFilesMax).at().value = Number(most)
}
