// The load driver, in a process of its own. For each Task from its parent it sends 'start' when the measured window opens,
// 'end' when it closes, and then the LoadResult. It checks every answer: status, bytes, events, terminal. If it cannot know
// the bytes beforehand, it fully checks one answer before the window, and the others must have as many bytes.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Dispatcher, Pool } from 'undici'
import { type Answer, answerFor, nowUs } from './answers.ts'
import { Call, type Expected, type Window } from './call.ts'
import { type ClientProtocol, clients, requestBody } from './clients.ts'
import { conversationOf, lateTurns, type Session, turnCount } from './conversation.ts'
import { messagesFault } from './messages-answer.ts'
import { percentile } from './percentile.ts'

export interface Task {
  /** Origin of the subject. */
  origin: string
  /** The calls take them by turns. */
  keys: readonly string[]
  protocol: ClientProtocol
  model: string
  /** The format of the bodies of `turns`, the client's own by default; all others are valid in every format. */
  bodies?: ClientProtocol
  /** Size of the request body, roughly. */
  bodyBytes: number
  /** Each body differs from all others at its beginning. */
  isNew?: boolean
  drive: Drive
}

/**
 * closed: `inFlight` calls, each followed at once by the next; for CPU per request. Where a busy machine leaves little time, it
 * goes on until `calls` have begun, up to four times as long: a call costs less when the code is compiled and shares fixed costs.
 * rate: calls start at fixed times whatever the subject does. Latency counts from the intended start, so a stall shows in
 * every call that it delayed; for latency.
 * hold: opens `streams` over `openMs`, and measures for `windowMs` while all of them are open.
 * turns: as many agents as `sessions` at once, each with a whole conversation. Before the last turns all of them pause for
 * `pauseMs`, and the driver sends 'late' after that.
 */
export type Drive =
  | { kind: 'closed'; inFlight: number; durationMs: number; calls?: number }
  | { kind: 'rate'; perSecond: number; durationMs: number }
  | { kind: 'hold'; streams: number; openMs: number; windowMs: number }
  | { kind: 'turns'; sessions: number; pauseMs: number }

export interface LoadResult {
  /** All calls, the one before the window included. */
  sent: number
  /** Errors of calls, with counts; empty when all answers were right to the byte. */
  errors: Record<string, number>
  /** Events received in the window. */
  windowEvents: number
  /** Calls that ended in the window. */
  windowCalls: number
  /** Calls after 'late'. */
  lateCalls: number
  eventsLost: number
  latencyP50Us: number
  latencyP95Us: number
  latencyP99Us: number
  latencyMaxUs: number
  /** Time from the upstream's write to our read, in the window; NaN when events carry no time. */
  eventP50Us: number
  eventP99Us: number
  eventMaxUs: number
}

process.on('message', (task: Task) => {
  void run(task).then((result) => process.send?.(result))
})
process.on('disconnect', () => process.exit(0))
process.send?.({ ready: true })

async function run(task: Task): Promise<LoadResult> {
  const answer = answerFor(task.model)
  const client = clients[task.protocol]
  const pool = new Pool(task.origin, {
    connections: connections(task.drive),
    pipelining: 1,
    bodyTimeout: 30_000,
  })
  const isStream = answer.kind !== 'json'
  const body = Buffer.from(requestBody(task.model, task.bodyBytes, isStream))
  const requests = task.keys.map((key) => ({
    path: client.path,
    method: 'POST' as const,
    headers: client.headers(key),
    body,
  }))
  let turn = 0
  const nextRequest = () => {
    const request = requests[turn++ % requests.length]
    if (request === undefined) throw new Error('The task has no key.')
    return task.isNew ? { ...request, body: unlikeAllOthers(body) } : request
  }
  const bytes = client.bytes(answer)
  const sessions = task.drive.kind === 'turns' ? sessionsOf(task, task.drive.sessions + 1) : []
  // Some answers tell how large the body was.
  const ofSession = sessions.pop()?.(0)
  const firstRequest = () => ({ ...nextRequest(), ...(ofSession && { body: ofSession }) })
  const first = bytes === undefined ? await readOne(pool, firstRequest(), answer) : undefined
  const expected: Expected = {
    bytes: bytes ?? first?.bytes ?? 0,
    events: client.events(answer),
    terminal: isStream ? client.terminal : undefined,
  }
  const calls: Promise<Call>[] = []
  const open: Open = (intendedUs, body) => {
    const call = Call.make(expected, intendedUs)
    const request = nextRequest()
    pool.dispatch(body === undefined ? request : { ...request, body }, call)
    calls.push(call.ended)
    return call.ended
  }
  const inWindow = await drive(task.drive, sessions, open)
  const ended = await Promise.all(calls)
  await pool.close()
  const result = summarize(ended, expected.events, inWindow)
  if (task.drive.kind === 'turns') result.lateCalls = task.drive.sessions * lateTurns
  if (first === undefined) return result
  if (first.fault !== undefined) result.errors[`first answer: ${first.fault}`] = 1
  return { ...result, sent: result.sent + 1 }
}

/** Opens a call, with the task's own body unless it gets one. */
type Open = (intendedUs: number, body?: Buffer) => Promise<Call>

/** The body with another number at the beginning of its first message. */
function unlikeAllOthers(body: Buffer): Buffer {
  const own = Buffer.from(body)
  own.write(String(bodiesMade++).padStart(12, '0'), own.indexOf(contentMark) + contentMark.length, 'latin1')
  return own
}

const contentMark = '"content":"'
/** Of the driver's life. Starts anywhere, because a gateway may outlive the driver. */
let bodiesMade = Date.now()

/** One translated answer, read as a client would. */
async function readOne(
  pool: Pool,
  request: Dispatcher.RequestOptions,
  answer: Answer,
): Promise<{ bytes: number; fault: string | undefined }> {
  const { statusCode, body } = await pool.request(request)
  const text = await body.text()
  const fault =
    statusCode === 200 ? messagesFault(answer, text) : `status ${statusCode}: ${text.slice(0, 400)}`
  return { bytes: Buffer.byteLength(text), fault }
}

function connections(drive: Drive): number {
  if (drive.kind === 'closed') return drive.inFlight
  if (drive.kind === 'turns') return drive.sessions
  return drive.kind === 'hold' ? drive.streams : 256
}

async function drive(drive: Drive, sessions: readonly Session[], open: Open): Promise<Window> {
  if (drive.kind === 'hold') return await hold(drive, open)
  Call.openWindow()
  process.send?.('start')
  if (drive.kind === 'closed') await closedLoop(drive, open)
  else if (drive.kind === 'rate') await openLoop(drive, open)
  else await turns(sessions, drive.pauseMs, open)
  process.send?.('end')
  return Call.closeWindow()
}

async function closedLoop(drive: Extract<Drive, { kind: 'closed' }>, open: Open) {
  const { inFlight, durationMs, calls = 0 } = drive
  const began = nowUs()
  let begun = 0
  const goesOn = (now: number) => now < began + (begun < calls ? 4 : 1) * durationMs * 1000
  const lane = async () => {
    for (let now = began; goesOn(now); now = nowUs()) {
      begun++
      await open(now)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
}

async function openLoop(drive: Extract<Drive, { kind: 'rate' }>, open: Open) {
  const started = nowUs()
  const total = Math.floor((drive.perSecond * drive.durationMs) / 1000)
  let last: Promise<Call> | undefined
  for (let index = 0; index < total; index++) {
    const intendedUs = started + (index * 1e6) / drive.perSecond
    await until(intendedUs)
    last = open(intendedUs)
  }
  await last
}

/** Timers are exact to a millisecond only. The rest of the wait polls, so that we do not cause a late start. */
async function until(us: number): Promise<void> {
  const sleepMs = (us - nowUs()) / 1000 - 1.5
  if (sleepMs > 0) await sleep(sleepMs)
  while (nowUs() < us) await new Promise((resolve) => setImmediate(resolve))
}

async function hold(drive: Extract<Drive, { kind: 'hold' }>, open: Open) {
  const started = nowUs()
  const all: Promise<Call>[] = []
  for (let index = 0; index < drive.streams; index++) {
    const intendedUs = started + (index * drive.openMs * 1000) / drive.streams
    if (intendedUs > nowUs()) await until(intendedUs)
    all.push(open(intendedUs))
  }
  await sleep(1000)
  Call.openWindow()
  process.send?.('start')
  await sleep(drive.windowMs)
  process.send?.('end')
  const inWindow = Call.closeWindow()
  await Promise.all(all)
  return inWindow
}

/** The bodies of sessions that were in no window before. */
function sessionsOf(task: Task, many: number): Session[] {
  const conversation = conversationOf(task.bodies ?? task.protocol, task.model)
  return Array.from({ length: many }, () => conversation(bodiesMade++))
}

async function turns(sessions: readonly Session[], pauseMs: number, open: Open) {
  const run = async (from: number, to: number) => {
    const lane = async (bodyOf: Session) => {
      for (let turn = from; turn < to; turn++) await open(nowUs(), bodyOf(turn))
    }
    await Promise.all(sessions.map(lane))
  }
  await run(0, turnCount - lateTurns)
  await sleep(pauseMs)
  process.send?.('late')
  // The reader of the clocks needs a moment, and the last turns are short.
  await sleep(20)
  await run(turnCount - lateTurns, turnCount)
}

function summarize(calls: Call[], eventsEach: number, inWindow: Window): LoadResult {
  const errors: Record<string, number> = {}
  let events = 0
  for (const call of calls) {
    events += call.events
    if (call.fault !== undefined) errors[call.fault] = (errors[call.fault] ?? 0) + 1
  }
  const latenciesUs = calls.map((call) => call.latencyUs)
  return {
    sent: calls.length,
    errors,
    windowEvents: inWindow.events,
    windowCalls: inWindow.calls,
    lateCalls: 0,
    eventsLost: calls.length * eventsEach - events,
    latencyP50Us: percentile(latenciesUs, 0.5),
    latencyP95Us: percentile(latenciesUs, 0.95),
    latencyP99Us: percentile(latenciesUs, 0.99),
    latencyMaxUs: percentile(latenciesUs, 1),
    eventP50Us: percentile(inWindow.delaysUs, 0.5),
    eventP99Us: percentile(inWindow.delaysUs, 0.99),
    eventMaxUs: percentile(inWindow.delaysUs, 1),
  }
}
