import { type Reason, reasons, reasonWords } from '../../canonical/reasons/catalogue.ts'
import type { ErrorKind } from '../../canonical/reasons/kinds.ts'
import type { Usage } from '../../canonical/usage.ts'
import {
  type AttemptRecord,
  type CloseRecord,
  chargeOf,
  type OnRow,
  type OpenRecord,
} from '../../journal/record.ts'
import { declared, namesMax } from '../../telemetry/metrics/declarations.ts'
import { type Cell, type Distribution, none, other } from '../../telemetry/metrics/family.ts'
import type { Metrics } from '../../telemetry/metrics/store.ts'

/** The models of the catalog by id and by alias. */
interface Named {
  readonly snapshot: { readonly models: ReadonlyMap<string, { readonly id: string }> }
}

/**
 * The only place that counts requests of all kinds, based on their rows. It runs for every request, so it
 * keeps references to the series that it needs again.
 */
export class RowMeter {
  readonly #metrics: Metrics
  readonly #catalog: Named
  /** The documented paths. Any other path is counted as `other`. */
  readonly #paths: Set<string>
  readonly #channels = new Map<string, ChannelSeries>()
  readonly #requests = new Map<string, Cell>()
  readonly #beforeUpstream: Distribution
  /** By endpoint, which is either one of `#paths` or `other`. */
  readonly #durations = {
    stream: new Map<string, Distribution>(),
    whole: new Map<string, Distribution>(),
    job: new Map<string, Distribution>(),
  }

  constructor(metrics: Metrics, catalog: Named, paths: Iterable<string>) {
    this.#metrics = metrics
    this.#catalog = catalog
    this.#paths = new Set(paths)
    this.#beforeUpstream = metrics.distributions(declared.beforeUpstream).at()
    this.#begin()
  }

  /**
   * Prometheus sees no increase in the first value of a series. Series on which alerts depend therefore exist
   * from the start with the value 0, so that the first error counts.
   */
  #begin(): void {
    for (const reason of reasonWords) this.#errorsOf(reasons[reason].kind, reason)
    this.#metrics.cells(declared.requests).at(...orphanLabels)
  }

  /** Adds the paths of our own endpoints. */
  learnPaths(paths: Iterable<string>): void {
    for (const path of paths) this.#paths.add(path)
  }

  /** Counts the rows that this process wrote for dead ones. Nothing more is known about these requests. */
  readonly adopted = ({
    journals,
    orphans: { length: orphans },
  }: {
    journals: number
    orphans: readonly string[]
  }): void => {
    this.#metrics.cells(declared.adopted).at().value += journals
    if (orphans === 0) return
    this.#metrics.cells(declared.requests).at(...orphanLabels).value += orphans
    this.#errorsOf(reasons.process_ended.kind, 'process_ended').value += orphans
    this.#channelOf(null).unknownCost.value += orphans
  }

  readonly breakerOpened = (channel: string): void => {
    this.#metrics.cells(declared.breakerOpenings).at(this.#channelOf(channel).label).value += 1
  }

  readonly row: OnRow = (open, close, job) => {
    const endpoint = this.#paths.has(open.endpoint) ? open.endpoint : other
    const channel = this.#channelOf(close.channel)
    this.#countRequest(endpoint, open, close, channel.label)
    this.#durationOf(endpoint, job ?? (open.stream ? 'stream' : 'whole')).observe(close.totalMs / 1_000)
    if (close.queueMs !== null) this.#beforeUpstream.observe(close.queueMs / 1_000)
    if (close.error !== null) this.#errorsOf(close.error.kind, close.error.reason).value += 1
    if (close.firstTokenMs !== null) this.#timeTokens(channel, open, close, close.firstTokenMs)
    if (close.costNano === null) channel.unknownCost.value += 1
    if (close.usageSource === 'implausible')
      this.#metrics.cells(declared.implausible).at(channel.label).value += 1
    if (close.usage !== null || close.costNano !== 0n || close.images) this.#countModel(channel, open, close)
    for (const attempt of close.attempts) this.#countAttempt(attempt)
  }

  #errorsOf(kind: ErrorKind, reason: Reason): { value: number } {
    return this.#metrics.cells(declared.errors).at(kind, reason)
  }

  #countRequest(endpoint: string, { clientProtocol }: OpenRecord, close: CloseRecord, channel: string): void {
    const { outcome, status } = close
    const statusClass = statusClasses[Math.floor(status / 100)] ?? other
    const protocol = clientProtocol ?? none
    // The channel comes last, because its name can be anything.
    const key = `${endpoint} ${protocol} ${outcome} ${statusClass} ${channel}`
    let cell = this.#requests.get(key)
    if (cell === undefined) {
      cell = this.#metrics.cells(declared.requests).at(endpoint, protocol, outcome, statusClass, channel)
      if (this.#requests.size < declared.requests.setsMax) this.#requests.set(key, cell)
    }
    cell.value += 1
  }

  #durationOf(endpoint: string, mode: 'stream' | 'whole' | 'job'): Distribution {
    const known = this.#durations[mode].get(endpoint)
    if (known !== undefined) return known
    const made = this.#metrics.distributions(declared.duration).at(endpoint, mode)
    this.#durations[mode].set(endpoint, made)
    return made
  }

  #timeTokens(
    channel: ChannelSeries,
    { stream }: OpenRecord,
    { totalMs, usage }: CloseRecord,
    firstTokenMs: number,
  ): void {
    channel.firstToken.observe(firstTokenMs / 1_000)
    const seconds = (totalMs - firstTokenMs) / 1_000
    const tokens = usage === null ? 0 : usage.output + usage.reasoning
    if (stream && tokens > 0 && seconds > 0) channel.tokenRate.observe(tokens / seconds)
  }

  #countModel(channel: ChannelSeries, { requestedModel }: OpenRecord, close: CloseRecord): void {
    const { models } = this.#catalog.snapshot
    const model = requestedModel === null ? none : (models.get(requestedModel)?.id ?? other)
    const series = channel.models.get(model) ?? this.#makeModel(channel, model)
    series.count(close)
  }

  #makeModel({ label, models }: ChannelSeries, model: string): ModelSeries {
    const isNamed = models.size < namesMax || model === none || model === other
    if (!isNamed) this.#folded()
    const own = isNamed ? model : other
    const known = models.get(own)
    if (known !== undefined) return known
    const made = new ModelSeries(this.#metrics, label, own)
    models.set(own, made)
    return made
  }

  #countAttempt({ channel: name, passedOver, error, firstByteMs }: AttemptRecord): void {
    const channel = this.#channelOf(name)
    if (passedOver) {
      channel.passedOver.value += 1
      return
    }
    const result = error === null ? 'succeeded' : error.kind
    let cell = channel.results.get(result)
    if (cell === undefined) {
      cell = this.#metrics.cells(declared.attempts).at(channel.label, result)
      channel.results.set(result, cell)
    }
    cell.value += 1
    if (firstByteMs !== null) channel.firstByte.observe(firstByteMs / 1_000)
  }

  /**
   * Only names from the catalog occur here. A process that has seen many of them counts the rest together.
   */
  #channelOf(name: string | null): ChannelSeries {
    const label = name ?? none
    const known = this.#channels.get(label)
    if (known !== undefined) return known
    if (this.#channels.size < namesMax || label === none) return this.#make(label)
    this.#folded()
    return this.#make(other)
  }

  #folded(): void {
    this.#metrics.cells(declared.unnamed).at().value += 1
  }

  #make(label: string): ChannelSeries {
    const known = this.#channels.get(label)
    if (known !== undefined) return known
    const made = channelSeries(this.#metrics, label)
    this.#channels.set(label, made)
    return made
  }
}

/** The labels of a request whose process died. */
const orphanLabels = [other, none, 'orphaned', '5xx', none] as const

const statusClasses: readonly (string | undefined)[] = [undefined, '1xx', '2xx', '3xx', '4xx', '5xx']

interface ChannelSeries {
  label: string
  firstToken: Distribution
  tokenRate: Distribution
  firstByte: Distribution
  unknownCost: Cell
  passedOver: Cell
  results: Map<string, Cell>
  models: Map<string, ModelSeries>
}

/** Series that exist only once something was counted are created later. */
function channelSeries(metrics: Metrics, label: string): ChannelSeries {
  const distribution = (of: 'firstToken' | 'tokenRate' | 'attemptFirstByte') =>
    metrics.distributions(declared[of]).at(label)
  return {
    label,
    firstToken: distribution('firstToken'),
    tokenRate: distribution('tokenRate'),
    firstByte: distribution('attemptFirstByte'),
    unknownCost: metrics.cells(declared.unknownCost).at(label),
    passedOver: metrics.cells(declared.passedOver).at(label),
    results: new Map(),
    models: new Map(),
  }
}

const tokenKinds = {
  input: 'input',
  cacheRead: 'cache_read',
  cacheWrite: 'cache_write',
  output: 'output',
  reasoning: 'reasoning',
} as const satisfies { [Name in keyof Usage]?: string }

/** The tokens, images and cost of one model on one channel. */
class ModelSeries {
  readonly #metrics: Metrics
  readonly #labels: [channel: string, model: string]
  readonly #cost: Cell
  readonly #tokens = new Map<string, Cell>()

  constructor(metrics: Metrics, channel: string, model: string) {
    this.#metrics = metrics
    this.#labels = [channel, model]
    this.#cost = metrics.cells(declared.cost).at(channel, model)
  }

  count(close: CloseRecord): void {
    const { usage, costNano, images } = close
    // Some upstreams report negative costs, but a counter never decreases.
    if (costNano !== null && costNano > 0n) this.#cost.value += Number(costNano)
    const uncharged = (costNano ?? 0n) - (chargeOf(close) ?? 0n)
    if (uncharged > 0n) this.#metrics.cells(declared.uncharged).at(...this.#labels).value += Number(uncharged)
    if (images) this.#metrics.cells(declared.images).at(...this.#labels).value += images
    if (usage === null) return
    this.#countTokens('input', usage.input)
    this.#countTokens('cacheRead', usage.cacheRead)
    this.#countTokens('cacheWrite', usage.cacheWrite)
    this.#countTokens('output', usage.output)
    this.#countTokens('reasoning', usage.reasoning)
  }

  #countTokens(kind: keyof typeof tokenKinds, tokens: number): void {
    if (tokens === 0) return
    let cell = this.#tokens.get(kind)
    if (cell === undefined) {
      cell = this.#metrics.cells(declared.tokens).at(tokenKinds[kind], ...this.#labels)
      this.#tokens.set(kind, cell)
    }
    cell.value += tokens
  }
}
