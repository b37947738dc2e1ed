import type { Identity } from '../../access/identity.ts'
import type { GatewayError } from '../../canonical/error.ts'
import { parseObject } from '../../canonical/json.ts'
import type { BodyShare } from '../../http/body-memory.ts'
import { MemoryExchange } from '../../http/memory-exchange.ts'
import { RunningRequests } from '../../http/running-requests.ts'
import type { CloseRecord } from '../../journal/record.ts'
import { unlimitedLease } from '../../limits/limits.ts'
import { EventReader } from '../../protocols/event-reader.ts'
import { RunningCounts } from '../../runtime/running-counts.ts'
import { booksWith } from '../books.ts'
import { chat } from '../chat.ts'
import { modelEndpoints } from '../endpoints.ts'
import type { Gateway, RequestLedger } from '../gateway.ts'
import type { Life } from '../life.ts'

/** The request of a job, as its client made it. */
export interface BackgroundRequest {
  id: string
  /** The path that its client called. */
  path: string
  body: Buffer
  /** Accounts for the memory of the body. */
  share: BodyShare
  headers: Record<string, string>
  clientAddress: string | null
  identity: Identity
  /** The trace context of its client. */
  traceparent: string | undefined
  /** Whether its client requested encrypted reasoning. */
  showsEncrypted: boolean
}

export interface BackgroundListener {
  /**
   * Takes one event in the wire format. Returns false when the caller must wait and call `drained` before
   * more events follow.
   */
  event(text: string): boolean
}

/** The result of the request. */
export interface BackgroundResult {
  /** The second half of its row; undefined when the gateway failed. */
  close: CloseRecord | undefined
  startedAt: number
  /** The error body of a request that was refused before its first event. */
  refusal: ReturnType<typeof parseObject>
}

export interface BackgroundRun {
  done: Promise<BackgroundResult>
  drained(): void
  /** Ends the call to the upstream, as for a client that has left. */
  cancel(): void
  /** Ends the call with an error. `shutdown` means that this process is ending. */
  abort(reason: GatewayError, why?: 'shutdown'): void
}

/**
 * Generates an answer for a job. The request takes the usual path of routing, translation and upstream, as if
 * its client had just made it and requested a stream. The job has already taken its limits and holds its
 * money. The request's row becomes the result, which is written when the job ends.
 */
export function makeInBackground(
  gateway: Gateway,
  { id, path, body, share, headers, clientAddress, identity, traceparent, showsEncrypted }: BackgroundRequest,
  listener: BackgroundListener,
): BackgroundRun {
  const endpoint = textEndpoint(path)
  const requests = new RunningRequests<Life>()
  let close: CloseRecord | undefined
  const note = async (_open: unknown, record: CloseRecord) => {
    close = record
  }
  const ledger: RequestLedger = {
    instance: gateway.ledger.instance,
    doubtOf: () => undefined,
    requireRoom() {},
    open: async () => {},
    opened: async () => {},
    close: note,
    refuse: note,
    refuseUnknown: note,
  }
  const books = booksWith(gateway, {
    ledger,
    limits: {
      take: () => unlimitedLease,
      state: () => gateway.limits.state(),
      close: async () => {},
    },
    onLimits: undefined,
    reservations: { hold: async () => ({ kind: 'granted' }), ended() {} },
    requests,
    keyRequests: new RunningCounts(),
  })
  const events = new EventReader()
  let isStream = false
  let refused: Buffer[] = []
  const exchange = new MemoryExchange(
    {
      method: 'POST',
      path: endpoint.path,
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      share,
      clientAddress: clientAddress ?? '127.0.0.1',
    },
    {
      begin: (_status, answered) => {
        isStream = String(answered['content-type']).startsWith('text/event-stream')
      },
      write: (chunk) => {
        const bytes = Buffer.from(chunk)
        if (!isStream) {
          refused.push(bytes)
          return true
        }
        const found = events.push(bytes).filter(({ data }) => data !== '[DONE]')
        if (events.heldBytes > gateway.bounds.sseFrameBytesMax) exchange.leave()
        return found.map(({ data }) => listener.event(data)).every((isTaken) => isTaken)
      },
      end: () => {},
    },
  )
  const job = { id, traceparent, added: { include: !showsEncrypted } }
  const startedAt = gateway.clock.now()
  const done = chat(gateway, endpoint)(exchange, { identity, books, job }).then(() => {
    const refusal = refused.length === 0 ? undefined : parseObject(Buffer.concat(refused).toString('utf8'))
    refused = []
    return { close, startedAt, refusal }
  })
  return {
    done,
    drained: () => exchange.drained(),
    cancel: () => {
      // The client cancelled this answer, so the group's setting for clients that leave does not apply.
      for (const life of requests.all()) life.whenClientLeaves = undefined
      exchange.leave()
    },
    abort: (reason, why) => {
      for (const life of requests.all()) {
        if (why === 'shutdown') life.shuttingDown = true
        life.running?.abort(reason)
      }
    },
  }
}

function textEndpoint(path: string) {
  const found = modelEndpoints.find((each) => each.path === path)
  if (found === undefined) throw new Error(`${path} is not an endpoint`)
  return found
}
