// A process whose clock a test sets loads this file first: see clock.ts. Its worker threads load it too.
import crypto from 'node:crypto'
import { readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const file = process.env.TEST_CLOCK_FILE ?? ''
const TrueDate = Date
let shiftMs = 0

const look = () => {
  // The file is empty for a moment while the test writes it.
  shiftMs = Number(readFileSync(file, 'utf8') || shiftMs)
}
look()
setInterval(look, 5).unref()

const now = () => TrueDate.now() + shiftMs

globalThis.Date = new Proxy(TrueDate, {
  construct: (target, given, made) =>
    Reflect.construct(target, given.length === 0 ? [now()] : given, made === globalThis.Date ? target : made),
  apply: () => new TrueDate(now()).toString(),
  get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
})

// An id holds the time as well, and native code would read it from the true clock.
const trueId = crypto.randomUUIDv7
crypto.randomUUIDv7 = (...options: Parameters<typeof trueId>) => {
  const moment = now().toString(16).padStart(12, '0')
  return `${moment.slice(0, 8)}-${moment.slice(8)}${trueId(...options).slice(13)}` as ReturnType<
    typeof trueId
  >
}
syncBuiltinESMExports()
