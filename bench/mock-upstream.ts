// The upstream of the bench, in a process of its own: raw and cheap, so that the subjects get the machine's time.
import type { ServerResponse } from 'node:http'
import {
  type Answer,
  answerFor,
  contentEvent,
  done,
  eventBytes,
  finishFrame,
  jsonAnswer,
  nowUs,
  usageFrame,
} from './answers.ts'
import { serveBodies } from './serve-bodies.ts'

/** The end of a stream, as real upstreams send it. */
const tailWithUsage = Buffer.concat([finishFrame, usageFrame, done])
const tailWithoutUsage = Buffer.concat([finishFrame, done])
const answers = new Map<string, Answer>()

serveBodies((body, response) => {
  const model = modelOf(body)
  const answer = answers.get(model) ?? answerFor(model)
  answers.set(model, answer)
  if (answer.kind === 'json') return sendJson(response, answer.delayMs)
  const tail = body.includes('"include_usage":true') ? tailWithUsage : tailWithoutUsage
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (answer.kind === 'paced') sendPaced(response, answer, tail)
  else sendBurst(response, answer.events, tail)
})

/** The bench's bodies name the model first, and gateways change at most its value. */
function modelOf(body: Buffer): string {
  const start = body.indexOf('"model":"') + '"model":"'.length
  return body.toString('latin1', start, body.indexOf(0x22, start))
}

function sendJson(response: ServerResponse, delayMs: number): void {
  if (delayMs > 0) return void setTimeout(sendJson, delayMs, response, 0)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': jsonAnswer.length })
  response.end(jsonAnswer)
}

function sendPaced(response: ServerResponse, answer: { events: number; paceMs: number }, tail: Buffer): void {
  let left = answer.events
  response.flushHeaders()
  const timer = setInterval(() => {
    if (left-- > 0) response.write(contentEvent(nowUs()), 'latin1')
    else response.end(tail)
  }, answer.paceMs)
  response.on('close', () => clearInterval(timer))
}

const blockEvents = Math.floor(65_536 / eventBytes)
const block = Buffer.from(contentEvent(0).repeat(blockEvents))

function sendBurst(response: ServerResponse, events: number, tail: Buffer): void {
  let left = events
  const write = () => {
    while (left > 0 && !response.destroyed) {
      const now = Math.min(left, blockEvents)
      left -= now
      if (!response.write(block.subarray(0, now * eventBytes))) return void response.once('drain', write)
    }
    response.end(tail)
  }
  write()
}
