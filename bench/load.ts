// The load driver, in a process of its own. For each Task from its parent it says 'start' when the measured window
// opens, 'end' when it closes, and then tells the LoadResult. Every answer is checked: status, bytes, events, [DONE].
import { Pool } from 'undici'
import { answerBytes, answerEvents, answerFor, nowUs } from './answers.ts'
import { Call } from './call.ts'
import { percentile } from './percentile.ts'

export interface Task {
  /** Origin of the subject. */
  origin: string
  key: string
  model: string
  /** Size of the request body, roughly. */
  bodyBytes: number
  drive: Drive
}

/**
 * closed: `inFlight` calls, each followed at once by the next; for CPU per request.
 * rate: calls start at fixed times whatever the subject does, and latency counts from the intended start, so a
 * stall is seen by every call that it delayed; for latency.
 * hold: `streams` opened over `openMs`, measured for `windowMs` while all of them are open.
 */
export type Drive =
  | { kind: 'closed'; inFlight: number; durationMs: number }
  | { kind: 'rate'; perSecond: number; durationMs: number }
  | { kind: 'hold'; streams: number; openMs: number; windowMs: number }

export interface LoadResult {
  sent: number
  /** Why calls failed, with counts; empty when all were right to the byte. */
  errors: Record<string, number>
  /** Events received in the window. */
  windowEvents: number
  /** Calls that ended in the window. */
  windowCalls: number
  eventsLost: number
  latencyP50Us: number
  latencyP99Us: number
  /** From the upstream's write to our read, in the window. NaN where events carry no time. */
  eventP50Us: number
  eventP99Us: number
}

process.on('message', (task: Task) => {
  void run(task).then((result) => process.send?.(result))
})
process.on('disconnect', () => process.exit(0))
process.send?.({ ready: true })

async function run(task: Task): Promise<LoadResult> {
  const answer = answerFor(task.model)
  const expected = {
    bytes: answerBytes(answer),
    events: answerEvents(answer),
    isStream: answer.kind !== 'json',
  }
  const pool = new Pool(task.origin, {
    connections: connections(task.drive),
    pipelining: 1,
    bodyTimeout: 30_000,
  })
  const body = Buffer.from(requestBody(task.model, task.bodyBytes, expected.isStream))
  const headers = ['content-type', 'application/json', 'authorization', `Bearer ${task.key}`]
  const request = { path: '/v1/chat/completions', method: 'POST' as const, headers, body }
  const calls: Promise<Call>[] = []
  const open = (intendedUs: number) => {
    const call = Call.make(expected, intendedUs)
    pool.dispatch(request, call)
    calls.push(call.ended)
    return call.ended
  }
  const inWindow = await drive(task.drive, open)
  const ended = await Promise.all(calls)
  await pool.close()
  return summarize(ended, expected.events, inWindow)
}

function connections(drive: Drive): number {
  if (drive.kind === 'closed') return drive.inFlight
  return drive.kind === 'hold' ? drive.streams : 256
}

interface Window {
  events: number
  calls: number
  delaysUs: number[]
}

async function drive(drive: Drive, open: (intendedUs: number) => Promise<Call>): Promise<Window> {
  if (drive.kind === 'hold') return await hold(drive, open)
  Call.openWindow()
  process.send?.('start')
  if (drive.kind === 'closed') await closedLoop(drive, open)
  else await openLoop(drive, open)
  process.send?.('end')
  return Call.closeWindow()
}

async function closedLoop(
  drive: Extract<Drive, { kind: 'closed' }>,
  open: (intendedUs: number) => Promise<Call>,
) {
  const until = nowUs() + drive.durationMs * 1000
  const lane = async () => {
    while (nowUs() < until) await open(nowUs())
  }
  await Promise.all(Array.from({ length: drive.inFlight }, lane))
}

async function openLoop(
  drive: Extract<Drive, { kind: 'rate' }>,
  open: (intendedUs: number) => Promise<Call>,
) {
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

/** Timers are good to a millisecond only: the rest of the wait polls, so that a late start is not our own. */
async function until(us: number): Promise<void> {
  const sleepMs = (us - nowUs()) / 1000 - 1.5
  if (sleepMs > 0) await new Promise((resolve) => setTimeout(resolve, sleepMs))
  while (nowUs() < us) await new Promise((resolve) => setImmediate(resolve))
}

async function hold(drive: Extract<Drive, { kind: 'hold' }>, open: (intendedUs: number) => Promise<Call>) {
  const started = nowUs()
  const all: Promise<Call>[] = []
  for (let index = 0; index < drive.streams; index++) {
    const intendedUs = started + (index * drive.openMs * 1000) / drive.streams
    if (intendedUs > nowUs()) await until(intendedUs)
    all.push(open(intendedUs))
  }
  await pause(500)
  Call.openWindow()
  process.send?.('start')
  await pause(drive.windowMs)
  process.send?.('end')
  const inWindow = Call.closeWindow()
  await Promise.all(all)
  return inWindow
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
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
    eventsLost: calls.length * eventsEach - events,
    latencyP50Us: percentile(latenciesUs, 0.5),
    latencyP99Us: percentile(latenciesUs, 0.99),
    eventP50Us: percentile(inWindow.delaysUs, 0.5),
    eventP99Us: percentile(inWindow.delaysUs, 0.99),
  }
}

/** A chat of the given size: prose with line breaks and quotes, in messages of at most 5 KB. */
function requestBody(model: string, bytes: number, stream: boolean): string {
  const prose =
    'The quick gateway, as the "operators" say, passes over the lazy proxy.\nIt counts every token on its way. '
  const messages: { role: string; content: string }[] = []
  for (let left = bytes - 100; left > 0; left -= 5000) {
    const content = prose.repeat(50).slice(0, Math.min(left, 5000))
    messages.push({ role: messages.length % 2 === 0 ? 'user' : 'assistant', content })
  }
  return JSON.stringify({ model, messages, max_tokens: 512, ...(stream && { stream: true }) })
}
