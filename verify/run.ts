import { type Answered, Caller, waitsMax } from './caller.ts'
import { chat } from './chat.ts'
import { checkImage, checkModels, checkUsageLog } from './check-server.ts'
import type { Check, CheckFinding, FormatId, Known, Reply, WireFormat } from './format.ts'
import { broken, ignored, ok } from './judge.ts'
import { messages } from './messages.ts'
import type { Options } from './options.ts'
import { exitCodeOf, type Line, type Report, type Section, verdictCounts } from './report.ts'
import { responses } from './responses.ts'

const formats: Readonly<Record<FormatId, WireFormat>> = { chat, responses, messages }

/** Reports the progress of a run. */
export interface Watcher {
  starts(callsMax: number, checks: number): void
  /** Called before each check. */
  asks(title: string, name: string): void
  /** Called after each check. */
  found(title: string, line: Line): void
  /** Called when a section is complete. */
  ended(section: Section): void
}

/**
 * Runs all checks one after the other: the model list, one simple request, the usage log, then the rest. If
 * the signal ends the run early, the report contains what is known by then. Throws Unreachable.
 */
export async function run(options: Options, signal: AbortSignal, watcher: Watcher): Promise<Report> {
  const started = performance.now()
  const caller = new Caller({ ...options, signal })
  const callsMax = callsMaxOf(options)
  const service: Section = { id: 'service', title: 'Service', served: true, checks: [] }
  const sections: Section[] = [service]
  const { key, model } = options

  const add = async (section: Section, name: string, isMust: boolean, find: () => Promise<CheckFinding>) => {
    watcher.asks(section.title, name)
    const before = { calls: caller.calls, ids: caller.requestIds.length, ms: performance.now() }
    const { verdict, detail } = await find()
    const ms = Math.round(performance.now() - before.ms)
    const calls = caller.calls - before.calls
    const request_ids = caller.requestIds.slice(before.ids).map((id) => caller.shown(id))
    const line: Line = { name, must: isMust, verdict, detail, calls, ms, request_ids }
    section.checks.push(line)
    watcher.found(section.title, line)
    return line
  }

  const ended = new Set<Section>()
  const end = (section: Section) => {
    if (!ended.has(section)) watcher.ended(section)
    ended.add(section)
  }

  /** Made once per run, after the first successful simple request. */
  const endService = async (known: Known, requestId: string | undefined) => {
    if (ended.has(service)) return
    await add(service, 'usage log', false, () => checkUsageLog(caller, key, known, requestId))
    const { imageModel } = options
    if (imageModel !== undefined)
      await add(service, 'image generation', false, () => checkImage(caller, key, imageModel))
    end(service)
  }

  const checkFormat = async (format: WireFormat) => {
    const section: Section = { id: format.id, title: format.title, served: true, checks: [] }
    sections.push(section)
    const known = new Map<string, Reply>()
    for (const check of format.checks) {
      const answers: Answered[] = []
      const { verdict } = await add(section, check.name, check.isMust === true, () =>
        find(caller, format, model, check, known, answers),
      )
      if (check !== format.checks[0]) continue
      section.served = verdict !== 'refused'
      if (verdict === 'refused' || verdict === 'unknown') break
      if (answers.length > 0) await endService(known, answers[0]?.requestId)
    }
    end(section)
  }

  watcher.starts(callsMax, checksOf(options).length + serviceChecksOf(options))
  try {
    await add(service, 'model list', false, () => checkModels(caller, options))
    for (const id of options.formats) await checkFormat(formats[id])
    await endService(new Map(), undefined)
  } catch (error) {
    if (!signal.aborted) throw error
    for (const section of sections) end(section)
  }
  return {
    version: 1,
    base: options.base,
    model,
    calls_max: callsMax,
    calls: caller.calls,
    ms: Math.round(performance.now() - started),
    interrupted: signal.aborted,
    counts: verdictCounts(sections),
    sections,
    exit_code: exitCodeOf(sections, signal.aborted, options.areNamed),
  }
}

/**
 * Returns the maximum number of calls in a run. The model list may need a second call, and so may a check
 * that has an alternative request.
 */
function callsMaxOf(options: Options): number {
  const checks = checksOf(options)
  const others = checks.filter(({ instead }) => instead !== undefined)
  return serviceChecksOf(options) + 1 + checks.length + others.length + waitsMax
}

function checksOf({ formats: ids }: Options): Check[] {
  return ids.flatMap((id) => formats[id].checks)
}

/** The model list, the usage log, and the image. */
function serviceChecksOf({ imageModel }: Options): number {
  return imageModel === undefined ? 2 : 3
}

/** Sends the request and judges the response. Responses are added to `known` and `answers`. */
async function find(
  caller: Caller,
  format: WireFormat,
  model: string,
  check: Check,
  known: Map<string, Reply>,
  answers: Answered[],
): Promise<CheckFinding> {
  const wanted = check.ask(known)
  if ('verdict' in wanted) return wanted
  if (check.isRefusalRight) {
    const outcome = await caller.ask(format, model, { ...wanted, extra: format.malformed })
    if (!('verdict' in outcome)) return broken('a malformed body was accepted')
    return outcome.verdict === 'refused' ? ok(outcome.detail) : outcome
  }
  const outcome = await caller.ask(format, model, wanted)
  if ('verdict' in outcome && outcome.verdict === 'refused' && check.instead !== undefined) {
    const instead = check.instead(known)
    const other = 'verdict' in instead ? instead : await caller.ask(format, model, instead)
    if (!('verdict' in other)) {
      const { verdict, detail } = judged(check, other, known)
      known.set(check.name, other.reply)
      return { verdict, detail: caller.shown(`${detail}; the first variant was refused: ${outcome.detail}`) }
    }
  }
  if ('verdict' in outcome) return outcome
  known.set(check.name, outcome.reply)
  answers.push(outcome)
  const found = judged(check, outcome, known)
  return { ...found, detail: caller.shown(found.detail) }
}

/** The effect takes precedence over the gateway's report of dropped fields. */
function judged(
  { name, judge, fields = [name] }: Check,
  { reply, dropped }: Answered,
  known: Known,
): CheckFinding {
  const found = judge?.(reply, known)
  const missing = dropped.filter((path) =>
    fields.some((field) => path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`)),
  )
  if (missing.length > 0 && (found === undefined || found.verdict === 'unknown'))
    return ignored(`the gateway reports that it dropped ${missing.join(', ')}`)
  if (missing.length > 0 && found?.verdict === 'ignored')
    return ignored(`${found.detail}; the gateway reports that it dropped ${missing.join(', ')}`)
  return found ?? ok('accepted')
}
