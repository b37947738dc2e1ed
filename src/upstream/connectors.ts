import type { LookupFunction, Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { gatewayError } from '../canonical/error.ts'
import type { EgressProxy } from '../catalog/channel-connection.ts'
import { breakOff } from '../runtime/confine.ts'
import { openTunnel } from './tunnel.ts'
import { buildConnector } from './undici.cjs'

/**
 * `secureContext` contains the trusted certificates and our own certificate. If it is undefined, Node's
 * defaults apply.
 */
export interface ConnectorOptions {
  timeout: number
  lookup: LookupFunction
  secureContext?: SecureContext | undefined
}

/**
 * Opens connections to upstreams. TCP keep-alive detects connections whose peer has disappeared without
 * closing them.
 */
export function connector(options: ConnectorOptions) {
  const connect = plainConnector(options)
  return (to: buildConnector.Options, done: buildConnector.Callback): void => {
    connect(to, (...made) => {
      // If the connection fails, undici passes no socket.
      if (made[0] === null) skipInterimAnswers(made[1])
      done(...made)
    })
  }
}

/**
 * Opens connections through a proxy: a tunnel to an https origin, otherwise a connection to the proxy itself,
 * which then reads each request. `tunnelsAll` opens a tunnel to every origin.
 */
export function proxiedConnector(
  proxy: EgressProxy,
  { tunnelsAll = false, ...options }: ConnectorOptions & { tunnelsAll?: boolean },
) {
  const connect = plainConnector(options)
  const { protocol, hostname } = proxy
  const host = hostname.includes(':') ? `[${hostname}]` : hostname
  const toProxy = { protocol, hostname, host, port: String(proxy.port) }
  return (to: buildConnector.Options, done: buildConnector.Callback): void => {
    let reached: Socket | undefined
    let isLate = false
    // Covers all steps together. Each step also has its own timer, which does not expire before this one.
    const timer = setTimeout(() => {
      isLate = true
      if (reached !== undefined) breakOff(reached, gatewayError('upstream_connect_timed_out'))
    }, options.timeout)
    const over = (...made: Parameters<buildConnector.Callback>) => {
      clearTimeout(timer)
      if (made[0] === null) skipInterimAnswers(made[1])
      if (made[0] !== null && isLate) done(gatewayError('upstream_connect_timed_out'), null)
      else done(...made)
    }
    connect(toProxy, (...made) => {
      const [error, socket] = made
      if (error !== null) return over(error, null)
      reached = socket
      const isSecure = to.protocol === 'https:'
      if (!isSecure && !tunnelsAll) return over(null, socket)
      openTunnel(socket, proxy, to, (refusal) => {
        if (refusal !== null) return over(refusal, null)
        if (!isSecure) return over(null, socket)
        connect({ ...to, httpSocket: socket }, over)
      })
    })
  }
}

function plainConnector({ secureContext, ...options }: ConnectorOptions): buildConnector.connector {
  return buildConnector({
    ...options,
    ...(secureContext !== undefined && { secureContext }),
    allowH2: false,
    keepAlive: true,
    keepAliveInitialDelay: probeAfterMs,
  })
}

/** Receives the connection on which its request is sent. */
export interface Sender {
  onConnection(socket: Socket): void
}

/**
 * undici does not report which connection a request uses. It is the next one that is written to, in the same
 * turn of the event loop.
 */
let nextSender: Sender | undefined

/** Must be called right before undici writes a request. */
export function sendsNext(sender: Sender): void {
  nextSender = sender
}

/** The same for a request that `write` writes before it returns. */
export function sendsNow(sender: Sender, write: () => void): void {
  nextSender = sender
  write()
  nextSender = undefined
}

const probeAfterMs = 15_000
/** More interim responses than this before one response are treated as flooding. */
const interimAnswersMax = 100
const interimBytesMax = 16 * 1024

/**
 * Hides interim responses (status 1xx) from undici, which closes the connection on an unexpected 100 and
 * restarts its headers timeout on each of the others. https://www.rfc-editor.org/rfc/rfc9110#section-15.2
 */
export function skipInterimAnswers(socket: Socket): void {
  const { read, write } = socket
  /** True from the write of a request until the first bytes of its final response. */
  let isAwaited = false
  let skipped = 0
  let held: Buffer = nothing
  socket.write = (...args: unknown[]): boolean => {
    // Later parts of a body may be written after the first bytes of the response.
    if (nextSender !== undefined) {
      isAwaited = true
      skipped = 0
      nextSender.onConnection(socket)
      nextSender = undefined
    }
    return Reflect.apply(write, socket, args)
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
        breakOff(
          socket,
          gatewayError('upstream_http_invalid', { how: 'sent too many interim responses (status 1xx)' }),
        )
        return null
      }
      held = end === -1 ? bytes : nothing
      if (end === -1) continue
      isAwaited = false
      return bytes
    }
  }
}

/**
 * Returns the offset after the interim response at the start of the bytes, 0 if there is none, or -1 if more
 * bytes are needed to decide.
 */
function interimEnd(bytes: Buffer): number {
  // The first digit of the status. For nearly every response, this byte is enough to decide.
  if (bytes.length > 9 && bytes[9] !== one) return 0
  const line = bytes.toString('latin1', 0, 12)
  if (!(line.length === 12 ? interimLine : beginsLine).test(line)) return 0
  const end = bytes.indexOf('\r\n\r\n')
  if (end !== -1) return end + 4
  return bytes.length > interimBytesMax ? 0 : -1
}

const nothing = Buffer.alloc(0)
const one = 0x31
/**
 * Excludes 101, which switches the protocol. Since we never request that, undici must see it and close the
 * connection.
 */
const interimLine = /^HTTP\/1\.\d 1(?!01)\d\d/
const beginsLine = /^(H|HT|HTT|HTTP|HTTP\/|HTTP\/1|HTTP\/1\.|HTTP\/1\.\d|HTTP\/1\.\d |HTTP\/1\.\d 1\d?)$/
