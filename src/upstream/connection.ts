import type { LookupFunction, Socket } from 'node:net'
import { buildConnector } from 'undici'
import { GatewayError } from '../canonical/error.ts'

/** How connections to upstreams are made. TCP's own keep-alive finds those whose other side is gone without a word. */
export function connector(options: { timeout: number; lookup: LookupFunction }) {
  const connect = buildConnector({
    ...options,
    allowH2: false,
    keepAlive: true,
    keepAliveInitialDelay: probeAfterMs,
  })
  return (to: buildConnector.Options, done: buildConnector.Callback): void => {
    connect(to, (...made) => {
      // Where it fails, undici leaves the socket out.
      if (made[0] === null) skipInterimAnswers(made[1])
      done(...made)
    })
  }
}

/** Told of the connection that its request goes out on. */
export interface Sender {
  onConnection(socket: Socket): void
}

/** undici does not say which connection a request gets: the next that is written to, in the same turn. */
let nextSender: Sender | undefined

/** To be called right before undici writes a request. */
export function sendsNext(sender: Sender): void {
  nextSender = sender
}

const probeAfterMs = 15_000
/** More of them before one answer is a flood. */
const interimAnswersMax = 100
const interimBytesMax = 16 * 1024

/**
 * Keeps answers that come before the answer, such as 103, from undici: it takes a 100 that it did not ask for as the end
 * of the connection, and waits for the headers anew after each of the others.
 * https://www.rfc-editor.org/rfc/rfc9110#section-15.2
 */
export function skipInterimAnswers(socket: Socket): void {
  const { read, write } = socket
  /** From a request that goes out to the first bytes of its answer. */
  let isAwaited = false
  let skipped = 0
  let held: Buffer = nothing
  socket.write = (...told: unknown[]): boolean => {
    isAwaited = true
    skipped = 0
    nextSender?.onConnection(socket)
    nextSender = undefined
    return Reflect.apply(write, socket, told)
  }
  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk: Buffer | null = Reflect.apply(read, socket, [size])
      if (chunk === null || !isAwaited) return chunk
      let bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      let end = interimEnd(bytes)
      while (end > 0) {
        skipped++
        bytes = bytes.subarray(end)
        end = bytes.length === 0 ? -1 : interimEnd(bytes)
      }
      if (skipped > interimAnswersMax) {
        socket.destroy(tooMany())
        return null
      }
      held = end === -1 ? bytes : nothing
      if (end === -1) continue
      isAwaited = false
      return bytes
    }
  }
}

/** Offset past the interim answer that these bytes begin with; 0 when they begin with none, -1 when nobody can tell yet. */
function interimEnd(bytes: Buffer): number {
  // `HTTP/1.1 1`: nearly every answer is seen to be none by this one byte.
  if (bytes.length > 9 && bytes[9] !== one) return 0
  const line = bytes.toString('latin1', 0, 12)
  if (!(line.length === 12 ? interimLine : beginsLine).test(line)) return 0
  const end = bytes.indexOf('\r\n\r\n')
  if (end !== -1) return end + 4
  return bytes.length > interimBytesMax ? 0 : -1
}

const nothing = Buffer.alloc(0)
const one = 0x31
/** A 101 changes the protocol, which nobody has asked for: undici ends it. */
const interimLine = /^HTTP\/1\.\d 1(?!01)\d\d/
const beginsLine = /^(H|HT|HTT|HTTP|HTTP\/|HTTP\/1|HTTP\/1\.|HTTP\/1\.\d|HTTP\/1\.\d |HTTP\/1\.\d 1\d?)$/

function tooMany(): GatewayError {
  return new GatewayError('upstream_error', 'The upstream announced its answer again and again (status 1xx).')
}
