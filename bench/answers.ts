/**
 * The answers of the mock upstream. The mock and the load driver, which checks every byte, compute them in the same way.
 * The model's name chooses the answer: `json` at once, `json-D` after D ms, `paced-NxM` N events M ms apart, `burst-N` N
 * events as fast as the client reads. A `renamed-` in front changes nothing.
 */
export type Answer =
  | { kind: 'json'; delayMs: number }
  | { kind: 'paced'; events: number; paceMs: number }
  | { kind: 'burst'; events: number }

export function answerFor(model: string): Answer {
  const [, kind, first = 0, second = 0] =
    /^(?:renamed-)?(json|paced|burst)(?:-(\d+))?(?:x(\d+))?$/.exec(model) ?? []
  if (kind === 'paced') return { kind, events: Number(first), paceMs: Number(second) }
  if (kind === 'burst') return { kind, events: Number(first) }
  if (kind === 'json') return { kind, delayMs: Number(first) }
  throw new Error(`The mock upstream has no model "${model}".`)
}

/** Size of the answer's body, usage frame not counted: the client of the bench never asks for one. */
export function answerBytes(answer: Answer): number {
  if (answer.kind === 'json') return jsonAnswer.length
  return answer.events * eventBytes + finishFrame.length + done.length
}

/** Events that end in a blank line: the content, the finish reason and [DONE]. */
export function answerEvents(answer: Answer): number {
  return answer.kind === 'json' ? 0 : answer.events + 2
}

/** The text of an answer. */
export function answerText(answer: Answer): string {
  return answer.kind === 'json' ? prose : token.repeat(answer.events)
}

const token = ' token'
const prose = 'All the words of a middling answer. '.repeat(26)

export const usage = { prompt_tokens: 210, completion_tokens: 190, total_tokens: 400 }
const head = {
  id: 'chatcmpl-bench-0123456789',
  object: 'chat.completion.chunk',
  created: 1_767_225_600,
  model: 'bench',
}

/** About 1.2 KB. */
export const jsonAnswer = Buffer.from(
  JSON.stringify({
    ...head,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: prose,
          refusal: null,
        },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage,
  }),
)

/** One content event with the time at which it was sent, in microseconds of the machine's monotonic clock. */
export function contentEvent(sentUs: number): string {
  return `${eventHead}${String(Math.floor(sentUs)).padStart(16, '0')}${eventTail}`
}

/** The text before the sixteen digits of an event's time. */
export const timeMark = '"system_fingerprint":"t-'

const eventHead = `data: ${JSON.stringify(head).slice(0, -1)},${timeMark}`
const eventTail = `","choices":[{"index":0,"delta":{"content":"${token}"},"logprobs":null,"finish_reason":null}]}\n\n`

export const eventBytes = contentEvent(0).length
export const finishFrame = frame({
  ...head,
  choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }],
})
export const usageFrame = frame({ ...head, choices: [], usage })
export const done = Buffer.from('data: [DONE]\n\n')

function frame(chunk: object): Buffer {
  return Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`)
}

/** Microseconds of a clock that all processes of the machine share. */
export function nowUs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e6 + nanoseconds / 1e3
}
