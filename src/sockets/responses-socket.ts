import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { GatewayError } from '../canonical/error.ts'
import type { Json } from '../canonical/json.ts'
import type { Bounds } from '../config.ts'
import { itemsIn, withHistory } from '../gateway/turn-items.ts'
import type { BodyShare } from '../http/body-memory.ts'
import type { ClientSide, RequestFacts } from '../protocols/protocol.ts'
import { asGatewayError } from '../stages/ending.ts'
import { readCreateFrame } from './create-frame.ts'
import { FrameMemory } from './frame-memory.ts'
import { type LaneState, stateAfter } from './lane-state.ts'
import type { OpenSocket, OpenSockets } from './open-sockets.ts'
import { requireCalls } from './result-calls.ts'
import { Turn, type TurnParts, type TurnResult } from './turn.ts'

export interface ResponsesSocketParts extends Pick<TurnParts, 'headers' | 'clientAddress' | 'handle'> {
  bounds: Bounds
  sockets: Pick<OpenSockets, 'remember'>
  /** Below the WebSocket. */
  stream: Duplex
  /** A share of the memory that its key may use. */
  beginShare(): BodyShare
  /** As `handle`, for a frame that only prepares the next request. */
  prepare: TurnParts['handle']
  /** How its requests are read, and its errors written. */
  client: ClientSide
  /** The process ends. */
  isDraining(): boolean
}

/**
 * One connection of a client: one request after the other, each a `response.create`. What nobody keeps of its newest answer stays here,
 * until the connection ends or a request that continues it is refused.
 */
export class ResponsesSocket implements OpenSocket {
  readonly #socket: WebSocket
  readonly #parts: ResponsesSocketParts
  readonly #frames: FrameMemory
  #turn: Turn | undefined
  #remembered: LaneState | undefined
  /** It gets no new request. */
  #isClosing = false
  readonly #age: NodeJS.Timeout
  readonly #idle: NodeJS.Timeout
  readonly #pings: NodeJS.Timeout
  #isAlive = true
  #stalled: NodeJS.Timeout | undefined

  constructor(socket: WebSocket, parts: ResponsesSocketParts) {
    this.#socket = socket
    this.#parts = parts
    this.#frames = new FrameMemory(parts.beginShare)
    // Before `ws` has it.
    parts.stream.prependListener('data', (chunk: Buffer) => this.#arrive(chunk))
    parts.stream.on('drain', () => this.#drained())
    const { socketAgeMs, socketIdleMs, keepAliveMs } = parts.bounds
    this.#age = setTimeout(() => this.#endOfAge(), socketAgeMs)
    this.#idle = setTimeout(() => this.#close(closeCodes.normal, 'idle'), socketIdleMs)
    this.#pings = setInterval(() => this.#ping(), keepAliveMs)
    for (const timer of [this.#age, this.#idle, this.#pings]) timer.unref()
    socket.on('message', (data, isBinary) => this.#take(data as Buffer, isBinary))
    socket.on('pong', () => {
      this.#isAlive = true
    })
    // A broken frame, or one that is too large: `ws` closes the connection with the code for it.
    socket.on('error', () => {})
    socket.once('close', () => this.#end())
  }

  drain(): void {
    this.#isClosing = true
    if (this.#turn === undefined) this.#close(closeCodes.restart, 'shutting down')
  }

  terminate(): void {
    this.#socket.terminate()
  }

  #arrive(chunk: Buffer): void {
    try {
      this.#frames.arrive(chunk)
    } catch (error) {
      this.#refuse(asGatewayError(error))
      this.#close(closeCodes.tryAgain, 'no memory for this frame')
      this.#readNoMore()
      return
    }
    // Pings and refused frames are answered too: a client that sends them and takes no answer must stop.
    if (this.#socket.bufferedAmount > answersBytesMax && !this.#mayTakeMore()) this.#socket.pause()
  }

  /** The client has a moment to read why: a connection that ends with unread bytes is reset. */
  #readNoMore(): void {
    this.#parts.stream.removeAllListeners('data').pause()
    setTimeout(() => this.#socket.terminate(), lastWordsMs).unref()
  }

  #take(data: Buffer, isBinary: boolean): void {
    const share = this.#frames.take()
    if (this.#socket.readyState !== this.#socket.OPEN) {
      share.release()
      return
    }
    try {
      if (isBinary) throw new GatewayError('invalid_request', 'Send text frames: a binary frame is not read.')
      if (this.#turn !== undefined) throw oneAtATime()
      if (this.#isClosing) throw shuttingDown()
      this.#begin(data, share)
    } catch (error) {
      share.release()
      this.#refuse(asGatewayError(error))
    }
  }

  #begin(frame: Buffer, share: BodyShare): void {
    const { bounds, client, handle, prepare } = this.#parts
    const { body, previousId, generates } = readCreateFrame(frame, bounds)
    const facts = client.readRequest(body, bounds)
    const state = previousId === undefined || this.#state?.id !== previousId ? undefined : this.#state
    const before = state === undefined ? previousId : state.before
    const asked = [state?.items ?? '', itemsIn(body, facts.conversation)]
      .filter((each) => each !== '')
      .join(',')
    if (!generates && facts.runsIn !== undefined) throw notPrepared()
    const { heldSpan } = facts
    if (generates && state !== undefined && before === undefined) this.#requireCalls(body, facts, state)
    const whole =
      !generates || state === undefined || heldSpan === undefined
        ? body
        : withHistory(body, { input: facts.conversation, previous: heldSpan }, state.items, before)
    share.set(whole.length)
    this.#idle.refresh()
    this.#turn = new Turn({
      ...this.#parts,
      body: whole,
      share,
      handle: generates ? handle : prepare,
      eventBytesMax: bounds.watchedAnswerBytesMax,
      send: (frames) => this.#sendFrames(frames),
      done: (result) =>
        this.#done(result, {
          asked: facts.runsIn === undefined ? { asked, before } : undefined,
          continued: state,
          generates,
        }),
    })
  }

  get #state(): LaneState | undefined {
    return this.#remembered
  }

  set #state(state: LaneState | undefined) {
    const before = this.#remembered?.items.length ?? 0
    this.#remembered = this.#parts.sockets.remember(before, state?.items.length ?? 0) ? state : undefined
  }

  /** Throws GatewayError `invalid_request`. Then the state is forgotten, as after any request that continues it and is refused. */
  #requireCalls(body: Buffer, { conversation }: RequestFacts, { items }: LaneState): void {
    try {
      requireCalls(body, conversation, items, this.#parts.bounds)
    } catch (error) {
      this.#state = undefined
      throw error
    }
  }

  /**
   * `asked`: undefined for a request whose conversation is kept elsewhere, so that its answer is not remembered. What a request prepares,
   * where `generates` is false, is kept nowhere else.
   */
  #done(
    result: TurnResult,
    {
      asked,
      continued,
      generates,
    }: { asked: Conversation | undefined; continued: LaneState | undefined; generates: boolean },
  ): void {
    this.#turn = undefined
    this.#idle.refresh()
    const { socketStateBytesMax } = this.#parts.bounds
    switch (result.kind) {
      case 'answered': {
        const { id, output, store } = result.response
        const isOurs = (store !== true || !generates) && typeof id === 'string' && Array.isArray(output)
        this.#state =
          isOurs && asked !== undefined ? stateAfter({ id, output }, asked, socketStateBytesMax) : undefined
        break
      }
      case 'refused': {
        if (continued !== undefined) this.#state = undefined
        const { status, error, retryAfter } = result
        this.#send(errorFrame(status, error, retryAfter))
        // A key that is not good any more.
        if (status === 401) this.#close(closeCodes.policy, 'the key is not valid')
        break
      }
      case 'failed':
        if (continued !== undefined) this.#state = undefined
        break
      case 'cut': {
        const error = new GatewayError('upstream_error', 'The answer broke off. Send the request again.')
        this.#refuse(error)
      }
    }
    if (this.#isClosing || this.#parts.isDraining()) this.#close(closeCodes.restart, 'shutting down')
  }

  #refuse(error: GatewayError): void {
    const { status, body, headers } = this.#parts.client.encodeError(error, '')
    const { error: shown } = body as { error: Json }
    this.#send(errorFrame(status, shown, headers['retry-after']))
  }

  #send(text: string): void {
    const socket = this.#socket
    if (socket.readyState !== socket.OPEN) return
    socket.send(text, () => this.#drained())
    this.#mayTakeMore()
  }

  /** Without compression `ws` writes each frame at once, so that these come in between two of its own. */
  #sendFrames(frames: Buffer): boolean {
    const socket = this.#socket
    if (socket.readyState !== socket.OPEN) return true
    this.#parts.stream.write(frames, () => this.#drained())
    return this.#mayTakeMore()
  }

  #mayTakeMore(): boolean {
    const socket = this.#socket
    if (socket.bufferedAmount <= bufferedMax) return true
    // A client that reads nothing for so long is cut, as over HTTP.
    this.#stalled ??= setTimeout(() => socket.terminate(), this.#parts.bounds.clientStallMs)
    return false
  }

  #drained(): void {
    if (this.#stalled === undefined) return
    if (this.#socket.bufferedAmount > bufferedMax / 2) {
      this.#stalled.refresh()
      return
    }
    clearTimeout(this.#stalled)
    this.#stalled = undefined
    this.#socket.resume()
    this.#turn?.drained()
  }

  #ping(): void {
    // The answer to a ping would wait behind what the client has not read: `#stalled` counts for it.
    if (this.#stalled !== undefined) {
      this.#isAlive = true
      return
    }
    if (!this.#isAlive) {
      this.#socket.terminate()
      return
    }
    this.#isAlive = false
    this.#socket.ping()
  }

  #endOfAge(): void {
    this.#isClosing = true
    const error = new GatewayError(
      'invalid_request',
      `This connection is ${this.#parts.bounds.socketAgeMs} ms old, as old as it may get. Open a new one.`,
      { code: 'websocket_connection_limit_reached' },
    )
    this.#refuse(error)
    if (this.#turn === undefined) this.#close(closeCodes.normal, 'too old')
  }

  #close(code: number, reason: string): void {
    this.#isClosing = true
    this.#socket.close(code, reason)
  }

  #end(): void {
    clearTimeout(this.#age)
    clearTimeout(this.#idle)
    clearTimeout(this.#stalled)
    clearInterval(this.#pings)
    this.#state = undefined
    this.#frames.release()
    this.#turn?.leave()
  }
}

/** The items of a request with those that the connection remembers, and the answer before them that is kept elsewhere. */
interface Conversation {
  asked: string
  before: string | undefined
}

/** https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1 */
const closeCodes = { normal: 1000, policy: 1008, restart: 1012, tryAgain: 1013 } as const

/** Bytes that wait for the client before the upstream is paused. */
const bufferedMax = 256 * 1024
/** Bytes that wait for the client before nothing more is read from it. */
const answersBytesMax = 4 * bufferedMax
const lastWordsMs = 1_000

function errorFrame(status: number, error: Json, retryAfter: string | undefined): string {
  const headers = retryAfter === undefined ? {} : { headers: { 'retry-after': retryAfter } }
  return JSON.stringify({ type: 'error', status, error, ...headers })
}

function oneAtATime(): GatewayError {
  return new GatewayError(
    'request_in_progress',
    'An answer runs on this connection. Wait for its last event, or open another connection.',
    { code: 'response_in_progress' },
  )
}

function notPrepared(): GatewayError {
  return new GatewayError(
    'unsupported_parameter',
    'conversation: a frame with "generate": false prepares the next request on this connection, and no conversation gets it.',
    { field: 'conversation' },
  )
}

function shuttingDown(): GatewayError {
  return new GatewayError('unavailable', 'This connection closes. Open a new one.', { retryAfterSeconds: 1 })
}
