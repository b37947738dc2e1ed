import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { type GatewayError, gatewayError } from '../canonical/error.ts'
import type { Json } from '../canonical/json.ts'
import type { Bounds } from '../config/config.ts'
import type { BodyShare } from '../http/body-memory.ts'
import { asGatewayError } from '../pipeline/ending.ts'
import type { ClientSide, RequestFacts } from '../protocols/protocol.ts'
import type { ProtocolState, SocketForm, SocketRequest } from '../protocols/protocol-state.ts'
import { FrameMemory } from './frame-memory.ts'
import { type LaneState, stateAfter } from './lane-state.ts'
import { LaneStates, lanesMax, oneAtATime, tooManyLanes, unnamed } from './lanes.ts'
import type { OpenSocket, OpenSockets } from './open-sockets.ts'
import { SocketTurn, type TurnParts, type TurnResult } from './turn.ts'

export interface ClientSocketParts
  extends Pick<TurnParts, 'headers' | 'clientAddress' | 'origin' | 'isEncrypted' | 'handle'> {
  bounds: Bounds
  sockets: Pick<OpenSockets, 'remember'>
  /** The stream below the WebSocket. */
  stream: Duplex
  /** Begins a share of the memory that its key may use. */
  beginShare(): BodyShare
  /** Like `handle`, for a frame that only prepares the next request. */
  prepare: TurnParts['handle']
  /** Reads its requests and writes its errors. */
  client: ClientSide
  state: ProtocolState
  form: SocketForm
  /** True while the process is ending. */
  isDraining(): boolean
}

/**
 * One connection of a client. Its requests run in lanes, one after another in
 * each. Requests that name no lane share one, where a second request at the same time is refused.
 * The newest answer of a lane is remembered here if it is not kept anywhere else, until the connection ends
 * or a request that continues it is refused.
 */
export class ClientSocket implements OpenSocket {
  readonly #socket: WebSocket
  readonly #parts: ClientSocketParts
  readonly #frames: FrameMemory
  readonly #states: LaneStates
  /** The running requests by lane. */
  readonly #turns = new Map<string, SocketTurn>()
  /** The requests that wait for another one in their lane. */
  #waiting: Waiting[] = []
  /** True when it accepts no new requests. */
  #isClosing = false
  readonly #age: NodeJS.Timeout
  readonly #idle: NodeJS.Timeout
  readonly #pings: NodeJS.Timeout
  #isAlive = true
  #stalled: NodeJS.Timeout | undefined

  constructor(socket: WebSocket, parts: ClientSocketParts) {
    this.#socket = socket
    this.#parts = parts
    this.#frames = new FrameMemory(parts.beginShare)
    this.#states = new LaneStates(parts.sockets)
    // Registered before the listener of `ws`.
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
    // The frame is broken or too large, and `ws` closes the connection with the matching code.
    socket.on('error', () => {})
    socket.once('close', () => this.#end())
  }

  drain(): void {
    this.#isClosing = true
    this.#endWaiting()
    if (this.#turns.size === 0) this.#close(closeCodes.restart, 'shutting down')
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
    // Pings and refused frames are answered too, so a client that sends them but reads no answers must be
    // stopped.
    if (this.#socket.bufferedAmount > answersBytesMax && !this.#mayTakeMore()) this.#socket.pause()
  }

  /**
   * Gives the client a moment to read the reason, because a connection that ends with unread bytes is reset.
   */
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
      if (isBinary) throw gatewayError('frame_binary')
      if (this.#isClosing) throw shuttingDown()
      const frame = this.#parts.form.readFrame(data, this.#parts.bounds)
      if (!this.#isFree(frame.lane)) this.#waiting.push({ frame, share })
      else this.#begin(frame, share)
    } catch (error) {
      share.release()
      this.#refuse(asGatewayError(error), this.#parts.form.laneOfRefused(data, this.#parts.bounds))
    }
  }

  /**
   * Whether a lane can begin a request now; false means that it has to wait. Throws `request_in_progress`.
   */
  #isFree(lane: string | undefined): boolean {
    const isBusy = this.#turns.has(lane ?? unnamed)
    if (isBusy && lane === undefined) throw oneAtATime()
    if (!isBusy && this.#turns.size >= lanesMax) throw tooManyLanes('running')
    if (isBusy && this.#waiting.length >= lanesMax) throw tooManyLanes('waiting')
    return !isBusy
  }

  #beginNext(lane: string): void {
    while (!this.#turns.has(lane)) {
      const at = this.#waiting.findIndex(({ frame }) => frame.lane === lane)
      const [next] = at === -1 ? [] : this.#waiting.splice(at, 1)
      if (next === undefined) return
      try {
        this.#begin(next.frame, next.share)
      } catch (error) {
        next.share.release()
        this.#refuse(asGatewayError(error), lane)
      }
    }
  }

  #endWaiting(): void {
    for (const { frame, share } of this.#waiting.splice(0)) {
      share.release()
      this.#refuse(shuttingDown(), frame.lane)
    }
  }

  #begin({ body, previousId, lane, generates }: SocketRequest, share: BodyShare): void {
    const { bounds, client, state: kept, handle, prepare } = this.#parts
    const facts = client.readRequest(body, bounds)
    const state = this.#states.find(previousId)
    const before = state === undefined ? previousId : state.before
    const asked = [state?.items ?? '', kept.itemsIn(body, facts)].filter((each) => each !== '').join(',')
    if (!generates && facts.runsIn !== undefined) throw this.#notPrepared()
    if (generates && state !== undefined && before === undefined) this.#requireCalls(body, facts, state)
    const whole =
      !generates || state === undefined ? body : kept.withHistory(body, facts, { items: state.items, before })
    share.set(whole.length)
    this.#idle.refresh()
    const turn = new SocketTurn({
      ...this.#parts,
      lane,
      body: whole,
      share,
      handle: generates ? handle : prepare,
      eventBytesMax: bounds.watchedAnswerBytesMax,
      send: (frames) => this.#sendFrames(frames),
      done: (result) =>
        this.#done(result, {
          asked: facts.runsIn === undefined ? { asked, before } : undefined,
          continued: state,
          lane,
          generates,
        }),
    })
    this.#turns.set(lane ?? unnamed, turn)
  }

  /**
   * Throws a GatewayError `invalid_request`, and then forgets the state, as after any refused request that
   * continues it.
   */
  #requireCalls(body: Buffer, facts: RequestFacts, state: LaneState): void {
    try {
      this.#parts.form.requireCalls(body, facts, state.items, this.#parts.bounds)
    } catch (error) {
      this.#states.forget(state)
      throw error
    }
  }

  /**
   * `asked` is undefined for a request whose conversation is kept elsewhere, so that its answer is not
   * remembered. The result of a request that only prepares, where `generates` is false, is not kept anywhere
   * else.
   */
  #done(
    result: TurnResult,
    {
      asked,
      continued,
      lane,
      generates,
    }: Pick<SocketRequest, 'lane' | 'generates'> & {
      asked: Conversation | undefined
      continued: LaneState | undefined
    },
  ): void {
    this.#turns.delete(lane ?? unnamed)
    this.#idle.refresh()
    const { socketStateBytesMax } = this.#parts.bounds
    switch (result.kind) {
      case 'answered': {
        const answer = this.#parts.form.answered(result.answer)
        const isOurs = answer !== undefined && (!answer.isStored || !generates)
        this.#states.set(
          lane ?? unnamed,
          isOurs && asked !== undefined ? stateAfter(answer, asked, socketStateBytesMax) : undefined,
        )
        break
      }
      case 'refused': {
        if (continued !== undefined) this.#states.forget(continued)
        const { status, error, retryAfter } = result
        this.#send(this.#parts.form.errorFrame({ status, error, retryAfter, lane }))
        // The key is no longer valid.
        if (status === 401) this.#close(closeCodes.policy, 'the key is not valid')
        break
      }
      case 'failed':
        if (continued !== undefined) this.#states.forget(continued)
        break
      case 'cut': {
        this.#refuse(gatewayError('socket_answer_broke_off'), lane)
      }
    }
    if (!this.#isClosing && !this.#parts.isDraining()) {
      if (lane !== undefined) this.#beginNext(lane)
      return
    }
    this.#endWaiting()
    if (this.#turns.size === 0) this.#close(closeCodes.restart, 'shutting down')
  }

  #notPrepared(): GatewayError {
    const field = this.#parts.state.conversations?.member
    return gatewayError('prepared_not_in_conversation', {}, { field })
  }

  #refuse(error: GatewayError, lane?: string): void {
    const { status, body, headers } = this.#parts.client.encodeError(error, '')
    const { error: shown } = body as { error: Json }
    this.#send(
      this.#parts.form.errorFrame({ status, error: shown, retryAfter: headers['retry-after'], lane }),
    )
  }

  #send(text: string): void {
    const socket = this.#socket
    if (socket.readyState !== socket.OPEN) return
    socket.send(text, () => this.#drained())
    this.#mayTakeMore()
  }

  /** Without compression, `ws` writes each frame at once, so these are written between two of its own. */
  #sendFrames(frames: Buffer): boolean {
    const socket = this.#socket
    if (socket.readyState !== socket.OPEN) return true
    this.#parts.stream.write(frames, () => this.#drained())
    return this.#mayTakeMore()
  }

  #mayTakeMore(): boolean {
    const socket = this.#socket
    if (socket.bufferedAmount <= bufferedMax) return true
    // A client that reads nothing for this time is cut off, as over HTTP.
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
    for (const turn of this.#turns.values()) turn.drained()
  }

  #ping(): void {
    // The answer to a ping would queue after what the client has not read, so `#stalled` applies instead.
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
    const { socketAgeMs: ageMs } = this.#parts.bounds
    this.#refuse(gatewayError('websocket_connection_limit_reached', { ageMs }))
    this.#endWaiting()
    if (this.#turns.size === 0) this.#close(closeCodes.normal, 'too old')
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
    this.#states.clear()
    this.#frames.release()
    for (const { share } of this.#waiting.splice(0)) share.release()
    for (const turn of this.#turns.values()) turn.leave()
  }
}

/** A request that waits for its lane. */
interface Waiting {
  frame: SocketRequest
  share: BodyShare
}

/**
 * The items of a request together with those that the connection remembers, and the id of the answer before
 * them, which is kept elsewhere.
 */
interface Conversation {
  asked: string
  before: string | undefined
}

/** https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1 */
const closeCodes = { normal: 1000, policy: 1008, restart: 1012, tryAgain: 1013 } as const

/** When more bytes than this are queued for the client, the upstream is paused. */
const bufferedMax = 256 * 1024
/** When more bytes than this are queued for the client, nothing more is read from it. */
const answersBytesMax = 4 * bufferedMax
const lastWordsMs = 1_000

function shuttingDown(): GatewayError {
  return gatewayError('socket_closing', {}, { retryAfterSeconds: 1 })
}
