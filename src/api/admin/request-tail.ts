import { z } from 'zod'
import { gatewayError } from '../../canonical/error.ts'
import { invalid } from '../../canonical/field-error.ts'
import { EventStream } from '../../http/event-stream.ts'
import { askLogFor } from '../../usage/log/ask.ts'
import type { TailPlace } from '../../usage/log/new-rows-queries.ts'
import { LogTail, type TailBatch } from '../../usage/log/tail.ts'
import { filterQuery } from '../log-filter.ts'
import { type AdminEndpoint, adminEndpoint } from './endpoint.ts'
import { logRow, logRowJson } from './log-row.ts'
import { adminFilterOf, askLogAs, logAway, type WalkContext } from './log-walk.ts'
import { seesRouting } from './permit.ts'

export interface AdminTailContext extends Omit<WalkContext, 'bounds' | 'ledger'> {
  bounds: WalkContext['bounds'] & { keepAliveMs: number; clientStallMs: number }
  /** Becomes true when the process shuts down. Checked before each query. */
  readonly draining: boolean
}

/** The maximum number of tails per process. */
const tailsMax = 100

/** Streams new rows of the usage log as they arrive. */
export function adminTailEndpoint(context: AdminTailContext): AdminEndpoint {
  const { clock, database, bounds } = context
  const tail = new LogTail(askLogFor(database, 'tail', logAway), () => context.draining, clock)
  let tails = 0
  return adminEndpoint({
    method: 'GET',
    path: '/admin/v1/requests/tail',
    area: 'log',
    tenants: 'own',
    summary: 'Stream new rows of the usage log',
    description:
      'Server-sent events. `row`: a row as in the list. `dropped`: the number of rows that were left out because there were more than 200 per second or the client reads too slowly. `place`: sent after each batch of rows; send its id as `last-event-id` to continue from there. `away`: rows cannot be read now, and follow after `back`. `end`: the process is shutting down; reconnect.',
    query: filterQuery,
    media: 'text/event-stream',
    answer: logRow,
    async handle({ actor, query, request, response, signal }) {
      const from = placeFrom(request.headers['last-event-id'])
      if (tails >= tailsMax) throw gatewayError('tails_full', { most: tailsMax }, { retryAfterSeconds: 5 })
      const ask = askLogAs(database, actor)
      const filter = await adminFilterOf(ask, context, actor, query, { withinMs: bounds.logQueryMs, signal })
      signal.throwIfAborted()
      tails++
      const stream = new EventStream(response, {}, bounds)
      void stream.send((write) => write('retry: 2000\n\n'))
      const over = Promise.withResolvers<void>()
      signal.addEventListener('abort', () => over.resolve(), { once: true })
      const stop = tail.follow(filter, {
        from,
        take: takerFor(stream, seesRouting(context, actor)),
        state: (isBack) =>
          void stream.send((write) => write(`event: ${isBack ? 'back' : 'away'}\ndata: {}\n\n`)),
        end() {
          void stream.send((write) => write('event: end\ndata: {}\n\n'))
          over.resolve()
        },
      })
      try {
        await over.promise
      } finally {
        stop()
        tails--
        await stream.end()
      }
      return undefined
    },
  })
}

/** Until the client has received a batch, further batches are only counted, so that only one is in memory. */
function takerFor(stream: EventStream, showsRouting: boolean): (batch: TailBatch) => void {
  let isBusy = false
  let left = 0
  return ({ rows, names, dropped, place }) => {
    if (isBusy) {
      left += rows.length + dropped
      return
    }
    isBusy = true
    const all = left + dropped
    left = 0
    const text = [
      ...rows.map((row) => `event: row\ndata: ${JSON.stringify(logRowJson(row, names, showsRouting))}\n\n`),
      ...(all === 0 ? [] : [`event: dropped\ndata: {"dropped":${all}}\n\n`]),
      `event: place\nid: ${placeText(place)}\ndata: {}\n\n`,
    ].join('')
    void stream
      .send((write) => write(text))
      .finally(() => {
        isBusy = false
      })
  }
}

function placeText(place: TailPlace): string {
  return Buffer.from(JSON.stringify([place.snapshot, place.blocks])).toString('base64url')
}

const placeForm = z.tuple([
  z
    .string()
    .max(10_000)
    .regex(/^\d{1,20}:\d{1,20}:(?:\d{1,20}(?:,\d{1,20})*)?$/),
  z.record(z.string().regex(/^requests_(?:\d{8}|default)$/), z.int().min(0)),
])

/** Throws `invalid_request` for an id that we did not issue. The names in it become part of a statement. */
function placeFrom(header: string | string[] | undefined): TailPlace | undefined {
  if (header === undefined || header === '') return undefined
  const read = placeForm.safeParse(parsed(Buffer.from(String(header), 'base64url').toString('utf8')))
  if (!read.success) throw invalid('last-event-id', 'expected the id of an event from this path')
  const [snapshot, blocks] = read.data
  return { snapshot, blocks }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
