import { setTimeout as sleep } from 'node:timers/promises'
import { readNamedKey } from '../src/access/named-key-queries.ts'
import { GatewayError, gatewayError } from '../src/canonical/error.ts'
import { isRecord, type Json, parseObject } from '../src/canonical/json.ts'
import { bodyOwnerOf, growIfRoom } from '../src/http/body-memory.ts'
import {
  allAttempts,
  cancelledAnswer,
  endedWith,
  failedAnswer,
  rowOfRun,
  type UnmadeAnswer,
  unmadeRow,
} from '../src/jobs/answers/answer-ending.ts'
import type { AnswerEnding, KeptRequest } from '../src/jobs/answers/background-answers.ts'
import type { Job, Lease } from '../src/jobs/job.ts'
import { rowErrorOf } from '../src/journal/record.ts'
import {
  type BackgroundResult,
  type BackgroundRun,
  makeInBackground,
} from '../src/pipeline/background/make-in-background.ts'
import type { Context } from '../src/process/context.ts'
import { backgroundOf, clientSide, knownBackgroundOf, stateOf } from '../src/protocols/index.ts'
import type { ProtocolName } from '../src/protocols/protocol.ts'
import type { BackgroundForm, BackgroundView } from '../src/protocols/protocol-state.ts'
import { redactText } from '../src/redaction/redact.ts'
import { keptDaysOf } from '../src/state/kept/kept-answers.ts'
import { AnswerEvents } from './answer-events.ts'
import { enqueue, pauseOf } from './generate-image.ts'
import { holdLease } from './hold-lease.ts'

/** The pause between tries to write the end of an answer to Postgres. */
const finishRetryMs = 1_000

export interface AnswerRunner {
  /** Same as `ImageRunner.run`. */
  run(id: string): Promise<{ again: number } | undefined>
  /** Puts back all answers of which nothing is stored yet, and ends the others. */
  stop(): void
}

type AnswerContext = Pick<
  Context,
  | 'jobs'
  | 'jobWatch'
  | 'jobQueue'
  | 'backgroundAnswers'
  | 'bounds'
  | 'log'
  | 'database'
  | 'catalog'
  | 'kept'
  | 'draining'
> &
  Parameters<typeof makeInBackground>[0]

/**
 * Generates answers in the background, each from its claim to its end. The events of an answer all come from
 * the same run. If a worker dies before it has stored an event, its job runs again; otherwise the job fails
 * with the events stored so far.
 */
export function answerRunner(context: AnswerContext): AnswerRunner {
  const running = new Set<Making>()
  let stopped = false
  return {
    async run(id) {
      // Another worker will run the job.
      if (stopped) return { again: 0 }
      const claim = await context.jobs.claim(id)
      switch (claim.verdict) {
        case 'gone':
        case 'ended':
          return undefined
        case 'held':
        case 'early':
          return { again: Math.max(claim.untilMs - Date.now(), 50) }
        case 'claimed': {
          enqueue(context, claim.enqueue)
          if (knownBackgroundOf(claim.job.opened.clientProtocol) === undefined)
            return await leaveToOthers(context, claim.lease, claim.job)
          const making = new Making(context, claim.lease, claim.job)
          running.add(making)
          return await making.run(claim.request).finally(() => running.delete(making))
        }
      }
    },
    stop() {
      stopped = true
      for (const making of running) making.stop()
    },
  }
}

/** Another release accepted this job in a format that only its workers know. */
async function leaveToOthers(
  { jobs, bounds }: AnswerContext,
  lease: Lease,
  { attempts }: Job,
): Promise<{ again: number }> {
  const again = bounds.imageBackoffMs
  await jobs.requeue(lease, again, attempts, 'waited')
  return { again }
}

type Reason = 'lost' | 'cancelled' | 'stopped' | 'too large'

/** One run of one job. */
class Making {
  readonly #context: AnswerContext
  readonly #lease: Lease
  readonly #job: Job
  readonly #protocol: ProtocolName
  readonly #form: BackgroundForm
  readonly #events: AnswerEvents
  #reason: Reason | undefined
  #run: BackgroundRun | undefined
  #answer: Json = {}
  /** The last event of the run, as the client will see it. */
  #last: Json | undefined
  /** The response in that event, in the form that later requests need. */
  #whole: Json | undefined

  constructor(context: AnswerContext, lease: Lease, job: Job) {
    this.#context = context
    this.#lease = lease
    this.#job = job
    this.#protocol = protocolOf(job)
    this.#form = backgroundOf(this.#protocol)
    const { backgroundAnswers: answers } = context
    this.#events = new AnswerEvents({
      form: this.#form,
      first: job.events,
      bytesMax: context.bounds.backgroundEventBytesMax,
      keep: (first, events) => answers.keepEvents(lease, first, events),
      onLost: () => this.#end('lost'),
      onRoom: () => this.#run?.drained(),
    })
  }

  stop(): void {
    this.#end('stopped')
  }

  async run(request: () => string): Promise<{ again: number } | undefined> {
    const { backgroundAnswers, bounds } = this.#context
    const lease = holdLease(this.#context, this.#lease, bounds.imageLeaseMs, {
      lost: () => this.#end('lost'),
      cancelled: () => this.#end('cancelled'),
    })
    try {
      const answer = await backgroundAnswers.answerOf(this.#job.id).catch(unreadable)
      if (answer instanceof GatewayError) return await this.#fail(answer)
      this.#answer = answer ?? {}
      if (this.#job.events > this.#form.eventsBeforeRun) return await this.#finishLost()
      if (this.#job.cancelRequested) return await this.#finish(cancelledAnswer(this.#unmade(), this.#free()))
      if (this.#job.runs > bounds.backgroundRunsMax)
        return await this.#fail(gatewayError('workers_lost', { what: 'answer', runs: this.#job.runs - 1 }))
      return await this.#make(request)
    } finally {
      lease.stop()
      this.#events.stop()
    }
  }

  /** Fails the answer because the worker ended. No other worker can continue the events of that run. */
  async #finishLost(): Promise<undefined> {
    const error = gatewayError('worker_lost')
    const row = { status: 500, outcome: 'orphaned' as const, costNano: null, error: rowErrorOf(error) }
    const output = await this.#keptItems()
    await this.#finish(failedAnswer({ ...this.#unmade(), output }, error, unmadeRow(this.#job, row)))
  }

  async #make(request: () => string): Promise<{ again: number } | undefined> {
    const { database, bounds } = this.#context
    let kept: KeptRequest
    try {
      kept = this.#context.backgroundAnswers.requestOf(request())
    } catch (error) {
      return await this.#fail(unreadable(error))
    }
    const { keyId, tenantId, id, opened } = this.#job
    const identity = await database.reads
      .ask(({ db }) => readNamedKey(db, { id: keyId }, tenantId))
      .catch((error: unknown) => {
        if (error instanceof GatewayError) return 'away' as const
        throw error
      })
    if (identity === 'away') return await this.#putBack(bounds.imageBackoffMs, 'waited', undefined)
    if (identity === undefined) return await this.#fail(gatewayError('key_gone'))
    const body = Buffer.from(kept.body)
    const previousId = this.#form.previousIdOf(this.#answer)
    const view = { answer: this.#answer, showsEncrypted: kept.showsEncrypted }
    if (this.#reason !== undefined) return await this.#conclude(undefined, undefined)
    const share = this.#context.bodies.begin(bodyOwnerOf(identity))
    if (!growIfRoom(share, body.length))
      return await this.#putBack(bounds.imageBackoffMs, 'waited', undefined)
    this.#run = makeInBackground(
      this.#context,
      {
        ...kept,
        id,
        path: opened.endpoint,
        body,
        share,
        clientAddress: opened.clientAddress,
        identity,
        traceparent: opened.traceparent,
      },
      { event: (text) => this.#take(text, view) },
    )
    const result = await this.#run.done
    await this.#events.settled()
    const { facts, days } = this.#toKeep(body, identity)
    const turn =
      this.#whole === undefined || days === 0
        ? undefined
        : {
            input: stateOf(this.#protocol).itemsIn(body, facts),
            output: this.#form.itemsOfAnswer(this.#whole),
            previousId,
            days,
          }
    return await this.#conclude(result, turn)
  }

  #toKeep(body: Buffer, identity: Parameters<typeof keptDaysOf>[0]) {
    const { bounds, catalog } = this.#context
    const facts = clientSide(this.#protocol).readRequest(body, bounds)
    const group = catalog.snapshot.groups.get(this.#job.groupId)
    const days = group === undefined ? 0 : keptDaysOf(identity, group)
    // The answer was accepted when answers were stored. If they no longer are, it is stored for the shortest
    // time.
    return { facts, days: Math.max(1, days) }
  }

  #take(text: string, view: BackgroundView): boolean {
    if (this.#last !== undefined || this.#reason !== undefined) return true
    const event = parseObject(text)
    const shown = event === undefined ? undefined : this.#form.eventForClient(event, view)
    if (event === undefined || shown === undefined) return true
    if (this.#form.endOfEvent(event) !== undefined) {
      this.#last = shown
      this.#whole = this.#form.answerIn(event)
      return true
    }
    const state = this.#events.add(shown)
    if (state === 'too large') this.#end('too large')
    return state === 'room'
  }

  #end(reason: Reason): void {
    if (this.#reason !== undefined || this.#last !== undefined) {
      if (reason === 'lost') this.#reason = reason
      return
    }
    this.#reason = reason
    if (reason === 'stopped') this.#run?.abort(gatewayError('worker_stopped'), 'shutdown')
    else if (reason === 'too large') this.#run?.abort(gatewayError('answer_events_too_large'))
    else this.#run?.cancel()
  }

  async #conclude(
    result: BackgroundResult | undefined,
    turn: KeptTurnOf | undefined,
  ): Promise<{ again: number } | undefined> {
    const close = result?.close
    const row = close === undefined ? this.#free() : rowOfRun(close, this.#job, result?.startedAt ?? 0)
    const hasEvents = this.#events.count > this.#form.eventsBeforeRun
    if (this.#reason === 'lost') return undefined
    if (this.#reason === 'cancelled')
      return await this.#finish(cancelledAnswer(this.#unmade(), { ...row, status: 499 }))
    if (this.#reason === 'stopped' && !hasEvents && this.#last === undefined)
      return await this.#putBack(0, 'waited', close)
    const last = this.#last
    if (last !== undefined && this.#form.endOfEvent(last) !== 'failed') {
      const kept = turn === undefined ? undefined : this.#rowOf(turn)
      const ending = {
        ...endedWith(this.#unmade(), last),
        state: 'succeeded' as const,
        close: row,
        error: null,
        kept,
      }
      return await this.#finish(ending)
    }
    const error = this.#errorOf(result, last)
    if (!hasEvents && this.#mayPass(error)) {
      const delayMs = pauseOf(this.#job.runs, this.#context.bounds.imageBackoffMs, error)
      return await this.#putBack(delayMs, 'failed', close)
    }
    return await this.#finish(failedAnswer(this.#unmade(), error, row))
  }

  /** Returns what the client can see of a failure: from the last event, the refusal or the row. */
  #errorOf(result: BackgroundResult | undefined, last: Json | undefined): GatewayError {
    if (this.#reason === 'stopped') return gatewayError('worker_stopped')
    if (this.#reason === 'too large') return gatewayError('answer_events_too_large')
    const known = result?.close?.error
    const response = last === undefined ? undefined : this.#form.answerIn(last)
    const reported = [response?.error, result?.refusal?.error].find(isRecord)
    const message = textIn(reported?.message) ?? known?.message
    if (known === undefined || known === null) {
      return gatewayError('internal_fault').with({
        ...(message !== undefined && { message }),
        code: textIn(reported?.code),
      })
    }
    return new GatewayError(known.reason, message ?? known.message, {
      code: textIn(reported?.code),
      ...(result?.close?.outcome === 'refused' ? { fault: 'client' as const } : {}),
    })
  }

  #mayPass({ fault, kind }: GatewayError): boolean {
    if (this.#job.runs >= this.#context.bounds.backgroundRunsMax) return false
    return fault === 'upstream' || kind === 'unavailable'
  }

  async #fail(error: GatewayError): Promise<undefined> {
    const { status } = clientSide(this.#protocol).encodeError(error, this.#job.id)
    const row = { status, outcome: 'failed' as const, costNano: 0n, error: rowErrorOf(error) }
    return await this.#finish(failedAnswer(this.#unmade(), error, unmadeRow(this.#job, row)))
  }

  /** Returns the row of a run that sent nothing. */
  #free() {
    return unmadeRow(this.#job, { status: 499, outcome: 'cancelled', costNano: 0n, error: null })
  }

  #unmade(): UnmadeAnswer {
    const { first, pending, items } = this.#events
    return { job: this.#job, answer: this.#answer, first, pending, output: items }
  }

  #rowOf({ input, output, previousId, days }: KeptTurnOf): AnswerEnding['kept'] {
    const { tenantId, keyId, id, model, opened } = this.#job
    const last = this.#last === undefined ? undefined : this.#form.answerIn(this.#last)
    const answer = {
      tenantId,
      keyId,
      protocol: this.#protocol,
      id: this.#form.backgroundId(id),
      previousId,
      model,
      endUser: opened.endUser ?? null,
      days,
      claimedFor: undefined,
    }
    try {
      const content = { input, output, answer: last ?? {} }
      return { row: this.#context.kept.rowOf(answer, content), days }
    } catch (error) {
      this.#context.log.warn(
        { job: id, cause: redactText(String(error)) },
        'an answer is too large to be continued',
      )
      return undefined
    }
  }

  /** Returns the items that were completed in the events of an earlier run. */
  async #keptItems(): Promise<Json[]> {
    const items: Json[] = []
    for (let next = 0; ; ) {
      const events = await this.#context.backgroundAnswers.eventsFrom(this.#job.id, next)
      if (events.length === 0) return items
      next += events.length
      for (const text of events) {
        const item = this.#form.itemIn(parseObject(text) ?? {})
        if (item !== undefined) items.push(item)
      }
    }
  }

  async #putBack(
    delayMs: number,
    why: 'failed' | 'waited',
    close: BackgroundResult['close'],
  ): Promise<{ again: number } | undefined> {
    const attempts = allAttempts(this.#job.attempts, close)
    const back = await this.#context.jobs.requeue(this.#lease, Math.ceil(delayMs), attempts, why)
    if (back) return { again: delayMs }
    // The client has cancelled the job in the meantime. If another worker has claimed it, this has no effect.
    return await this.#finish(cancelledAnswer(this.#unmade(), this.#free()))
  }

  /**
   * Tries to write the end of the answer for as long as the lease may be ours, because the answer is paid
   * for.
   */
  async #finish(ending: AnswerEnding): Promise<undefined> {
    const { backgroundAnswers, log } = this.#context
    let last = ending
    while (this.#reason !== 'lost') {
      try {
        const done = await backgroundAnswers.finish(this.#lease, 'running', this.#job, last)
        if (done && last.state === 'failed')
          log.warn({ job: this.#job.id, kind: last.error?.kind }, last.error?.message ?? 'an answer failed')
        return
      } catch (error) {
        const cause = redactText(String(error))
        log.warn({ job: this.#job.id, cause }, 'the end of an answer could not be written yet')
        await sleep(finishRetryMs)
        // Postgres rejects the ending itself and would do so again. Without the turn it is more likely to be
        // accepted.
        if (!(error instanceof GatewayError && error.kind === 'unavailable'))
          last = { ...last, kept: undefined }
      }
    }
  }
}

interface KeptTurnOf {
  input: string
  output: string
  previousId: string | undefined
  days: number
}

/** The format of the client's request, which every job of an answer has. */
function protocolOf({ id, opened }: Job): ProtocolName {
  if (opened.clientProtocol === null) throw new Error(`job ${id} has no format`)
  return opened.clientProtocol
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/**
 * Returns the error for a request that was sealed with another SECRET_KEY. Throws if Postgres is down, in
 * which case the job runs again.
 */
function unreadable(error: unknown): GatewayError {
  if (error instanceof GatewayError) throw error
  return gatewayError('answer_sealed_elsewhere')
}
