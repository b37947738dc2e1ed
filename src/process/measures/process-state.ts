import type { Catalog } from '../../catalog/catalog.ts'
import type { Bounds } from '../../config/config.ts'
import type { Gateway } from '../../pipeline/gateway.ts'
import type { Ledger } from '../../shipping/ledger.ts'
import type { LedgerWatch } from '../../shipping/ledger-watch.ts'
import { declared, namesMax } from '../../telemetry/metrics/declarations.ts'
import { type Cell, other } from '../../telemetry/metrics/family.ts'
import type { Metrics } from '../../telemetry/metrics/store.ts'

/** The parts of a process whose state is shown. */
export interface Measured
  extends Pick<
    Gateway,
    'requests' | 'bodies' | 'rememberedBodies' | 'bodyThreads' | 'limits' | 'routing' | 'draining' | 'traces'
  > {
  bounds: Bounds
  catalog: Pick<Catalog, 'snapshot'>
  ledger: Ledger
  ledgerWatch: LedgerWatch
  sockets: { readonly size: number }
}

type Single = {
  [Name in keyof typeof declared]: (typeof declared)[Name]['type'] extends 'histogram' ? never : Name
}[keyof typeof declared]

/** Reads the state of a process whenever the metrics are requested. Nothing is kept up to date in between. */
export function showProcess(metrics: Metrics, process: Measured): void {
  const set = (of: Single, value: number) => {
    metrics.cells(declared[of]).at().value = value
  }
  metrics.collect(() => {
    set('inFlight', process.requests.size)
    set('sockets', process.sockets.size)
    set('bodyBytes', process.bodies.bytes)
    set('rememberedBytes', process.rememberedBodies.bytes)
    const { bodies, resumed, bytesResumed } = process.rememberedBodies.counts
    set('rememberedBodies', bodies)
    set('resumedBodies', resumed)
    set('resumedBytes', bytesResumed)
    set('draining', process.draining ? 1 : 0)
    const { threads, waiting, done } = process.bodyThreads.state()
    set('bodyThreads', threads)
    set('bodyThreadWaiting', waiting)
    set('bodyThreadJobs', done)
    const { mode, localDecisions } = process.limits.state()
    set('limitsShared', mode === 'shared' ? 1 : 0)
    set('localDecisions', localDecisions)
    set('processes', 1)
    set('processesExpected', 1)
  })
  metrics.collect(() => showLedger(process, set))
  metrics.collect(() => showTraces(metrics, process))
  metrics.collect(() => showChannels(metrics, channelStates(process)))
}

function showLedger(
  { ledger, ledgerWatch, bounds }: Measured,
  set: (of: Single, value: number) => void,
): void {
  const { journalBytes, postgresAway, trouble, lateCommits } = ledger.health()
  const { unshipped, journals, adoption, setAside } = ledgerWatch.state()
  set('journalBytes', journalBytes)
  set('journalFill', journalBytes / bounds.journalBytesMax)
  set('postgresUp', postgresAway === undefined ? 1 : 0)
  set('journalWritable', trouble === undefined ? 1 : 0)
  set('lateCommits', lateCommits)
  set('answersDropped', ledger.answers.dropped)
  set('unshippedRows', unshipped.rows)
  set('unshippedBytes', unshipped.bytes)
  set('oldestUnshipped', unshipped.oldestMs / 1_000)
  set('journals', journals.length)
  set('setAside', setAside.length)
  set('adopting', adoption.current === undefined ? 0 : 1)
  set('adoptionFailures', adoption.failed.length)
}

function showTraces(metrics: Metrics, { traces }: Measured): void {
  if (traces === undefined) return
  const spans = metrics.cells(declared.traceSpans)
  for (const [result, count] of Object.entries(traces.counts)) spans.at(result).value = count
  metrics.cells(declared.traceWaiting).at().value = traces.waiting
}

interface ChannelState {
  name: string
  isOpen: boolean
  /** The number of credentials in a cooldown, by reason. */
  cooling: Readonly<Record<string, number>>
  running: number
}

function channelStates({ catalog, routing }: Measured): ChannelState[] {
  const cooling = routing.cooldowns.counts()
  return [...catalog.snapshot.channels.values()].map((channel) => ({
    name: channel.name,
    isOpen: routing.breakers.isOpen(channel.id),
    cooling: cooling.get(channel.id) ?? noneCooling,
    running: routing.load.of(channel).running,
  }))
}

const noneCooling = { limited: 0, refused: 0, forbidden: 0 }

/**
 * Shows the first `namesMax` channels by name, which are the same in all processes. The others are shown
 * together.
 */
export function showChannels(metrics: Metrics, states: readonly ChannelState[]): void {
  const channels = states.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  for (const [at, { name, isOpen, cooling, running }] of channels.entries()) {
    const label = at < namesMax ? name : other
    // Created from the start, so that Prometheus sees the first increase.
    metrics.cells(declared.breakerOpenings).at(label)
    const open = metrics.cells(declared.breakerOpen).at(label)
    open.value = isOpen || open.value === 1 ? 1 : 0
    add(metrics.cells(declared.channelInFlight).at(label), running)
    for (const [why, count] of Object.entries(cooling))
      add(metrics.cells(declared.cooling).at(label, why), count)
  }
}

/** `cell` may be shared by several channels. */
function add(cell: Cell, value: number): void {
  cell.value = (Number.isNaN(cell.value) ? 0 : cell.value) + value
}
