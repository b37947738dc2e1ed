import { readdir, readFile } from 'node:fs/promises'
import {
  monitorEventLoopDelay,
  type PerformanceEntry,
  PerformanceObserver,
  performance,
} from 'node:perf_hooks'
import { declared } from '../../telemetry/metrics/declarations.ts'
import type { Metrics } from '../../telemetry/metrics/store.ts'

const resolutionMs = 20
/**
 * The event loop delay is that of the last window of this length, so it does not depend on who reads it and
 * how often.
 */
const windowMs = 10_000
/** How long garbage collection is observed in each of these windows. */
const sampleMs = 1_000

/**
 * Measures what Node and the system report about this process, until `stop`: event loop, garbage collection,
 * memory, CPU and files.
 */
export function measureRuntime(metrics: Metrics): { stop(): void } {
  const delays = measureDelays(metrics)
  const collections = sampleCollections(metrics)
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
      collections.stop()
    },
  }
}

function measureDelays(metrics: Metrics): { stop(): void } {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs })
  histogram.enable()
  let last: Record<string, number> = {}
  const read = () => {
    if (histogram.count === 0) return
    // The histogram measures from tick to tick of its timer.
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

/**
 * Node needs 0.2 ms to report one garbage collection, and a busy process with a small young generation has
 * hundreds of them per second. Therefore only part of the time is observed.
 */
function sampleCollections(metrics: Metrics): { stop(): void } {
  let ratio: number | undefined
  let observer: PerformanceObserver | undefined
  let ending: NodeJS.Timeout | undefined
  const sample = () => {
    const begunAt = performance.now()
    let collectedMs = 0
    const add = (entries: readonly PerformanceEntry[]) => {
      for (const { duration } of entries) collectedMs += duration
    }
    observer = new PerformanceObserver((list) => add(list.getEntries()))
    observer.observe({ entryTypes: ['gc'] })
    ending = setTimeout(() => {
      if (observer !== undefined) add(observer.takeRecords())
      observer?.disconnect()
      ratio = Math.min(1, collectedMs / (performance.now() - begunAt))
    }, sampleMs).unref()
  }
  sample()
  const timer = setInterval(sample, windowMs).unref()
  metrics.collect(() => {
    if (ratio !== undefined) metrics.cells(declared.gcRatio).at().value = ratio
  })
  return {
    stop() {
      clearInterval(timer)
      clearTimeout(ending)
      observer?.disconnect()
    },
  }
}

/** Available only on Linux. */
async function countFiles(metrics: Metrics): Promise<void> {
  metrics.cells(declared.openFiles).at().value = (await readdir('/proc/self/fd')).length
  const limits = await readFile('/proc/self/limits', 'utf8')
  const most = /^Max open files\s+(\d+)/m.exec(limits)?.[1]
  if (most !== undefined) metrics.cells(declared.openFilesMax).at().value = Number(most)
}
