import type { Dispatcher } from 'undici'
import { nowUs, timeMark } from './answers.ts'

export interface Expected {
  bytes: number
  events: number
  /** The last bytes of a stream; undefined for an answer that is not streamed. */
  terminal: string | undefined
}

/** What came while the measured window was open. */
export interface Window {
  events: number
  calls: number
  delaysUs: number[]
}

/** One call of the load driver. Counts the bytes and events of the answer, and finds its fault. */
export class Call implements Dispatcher.DispatchHandler {
  /** Undefined when the answer was right to the byte. */
  fault: string | undefined
  events = 0
  latencyUs = 0
  readonly ended: Promise<Call>
  readonly #expected: Expected
  readonly #intendedUs: number
  readonly #resolve: (call: Call) => void
  #status = 0
  #bytes = 0
  #last: Buffer = Buffer.alloc(0)

  // One window for all calls: a check per chunk is cheaper than a list of chunks per call.
  static #window: Window | undefined

  static make(expected: Expected, intendedUs: number): Call {
    return new Call(expected, intendedUs, Promise.withResolvers<Call>())
  }

  static openWindow(): void {
    Call.#window = { events: 0, calls: 0, delaysUs: [] }
  }

  static closeWindow(): Window {
    const closed = Call.#window ?? { events: 0, calls: 0, delaysUs: [] }
    Call.#window = undefined
    return closed
  }

  private constructor(expected: Expected, intendedUs: number, end: PromiseWithResolvers<Call>) {
    this.#expected = expected
    this.#intendedUs = intendedUs
    this.ended = end.promise
    this.#resolve = end.resolve
  }

  onRequestStart(): void {}

  onResponseStart(_: unknown, status: number): void {
    this.#status = status
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#expected.terminal !== undefined) this.#countEvents(chunk)
    this.#last = chunk.length < tailBytes ? Buffer.concat([this.#last.subarray(-tailBytes), chunk]) : chunk
  }

  onResponseEnd(): void {
    this.#end(this.#findFault())
  }

  onResponseError(_: unknown, error: Error): void {
    this.#end(`${error.name}: ${error.message}`)
  }

  #countEvents(chunk: Buffer): void {
    const before = this.events
    if (chunk[0] === newline && this.#last.at(-1) === newline) this.events++
    // Single bytes, because a search for the text of two took 1.6 times as long.
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 2)) {
      if (chunk[at + 1] === newline) this.events++
    }
    if (Call.#window === undefined) return
    Call.#window.events += this.events - before
    // Measures the first event of each chunk. Events of a burst have the time zero: there is nothing to measure.
    const mark = chunk.indexOf(timeMark)
    if (mark === -1) return
    const sentUs = Number(chunk.toString('latin1', mark + timeMark.length, mark + timeMark.length + 16))
    if (sentUs > 0) Call.#window.delaysUs.push(nowUs() - sentUs)
  }

  #findFault(): string | undefined {
    if (this.#status !== 200) return `status ${this.#status}`
    if (this.#bytes !== this.#expected.bytes) return `${this.#bytes} bytes instead of ${this.#expected.bytes}`
    const { terminal } = this.#expected
    if (terminal === undefined) return undefined
    if (this.events !== this.#expected.events)
      return `${this.events} events instead of ${this.#expected.events}`
    if (this.#last.subarray(-tailBytes).toString('latin1').endsWith(terminal)) return undefined
    return `no ${terminal.trim()} at the end`
  }

  #end(fault: string | undefined): void {
    this.fault = fault
    this.latencyUs = nowUs() - this.#intendedUs
    this.#last = Buffer.alloc(0)
    if (Call.#window !== undefined) Call.#window.calls++
    this.#resolve(this)
  }
}

const newline = 0x0a
/** The longest terminal has fewer bytes. */
const tailBytes = 32
