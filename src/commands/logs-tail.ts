import { setTimeout as sleep } from 'node:timers/promises'
import { EventReader, type ServerEvent } from '../protocols/event-reader.ts'
import { Backoff } from '../runtime/backoff.ts'
import { command } from './command.ts'
import { CommandError, codeOfSignal, exitCodes } from './exit-codes.ts'
import { GatewayClient, gatewayOptions } from './gateway.ts'
import type { ShownLogRow } from './gateway-answers.ts'
import { filters, queryOf } from './log-filters.ts'
import { json } from './options.ts'
import type { Terminal } from './terminal.ts'

export const logsTail = command({
  name: 'logs tail',
  group: 'Look',
  does: 'follow the usage log of a running gateway, until Ctrl-C',
  details:
    'When the gateway restarts or does not respond for a while, it resumes where it stopped. The filters are those of `logs find`. --json prints a line of JSON for each row.',
  options: { json, ...gatewayOptions },
  arguments: { filters },
  async run({ options, arguments: { filters }, terminal, ...call }) {
    const gateway = new GatewayClient({ options, ...call })
    const [{ logRow }, { logHead, logLines }] = await Promise.all([
      import('./gateway-answers.ts'),
      import('./log-line.ts'),
    ])
    if (!options.json) terminal.print(logHead(terminal.look))
    const show = (row: ShownLogRow) => {
      if (options.json) terminal.printJsonLine(row)
      else for (const line of logLines(row, terminal.look)) terminal.print(line)
    }
    const tail = { gateway, query: queryOf(filters), terminal, signal: call.signal }
    await follow(tail, (data) => {
      const row = logRow.safeParse(data)
      if (row.success) show(row.data)
    })
    return codeOfSignal(call.signal)
  },
})

interface Tail {
  gateway: GatewayClient
  query: URLSearchParams
  terminal: Terminal
  signal: AbortSignal
}

const pausesMs = { least: 250, most: 5_000 }

/**
 * Runs until the signal aborts. Rejects if the first call cannot reach a gateway, and whenever a gateway
 * refuses a call.
 */
async function follow(
  { gateway, query, terminal, signal }: Tail,
  take: (row: unknown) => void,
): Promise<void> {
  let place: string | undefined
  const pauses = new Backoff(pausesMs)
  let isAway = false
  let isFirst = true
  while (!signal.aborted) {
    try {
      const stream = await gateway.stream('requests/tail', query, place)
      if (isAway) terminal.tell(`${gateway.url} is responding again; resuming where the output stopped.`)
      isAway = false
      isFirst = false
      pauses.reset()
      for await (const { event, data, id } of eventsOf(stream)) {
        if (event === 'row') take(JSON.parse(data))
        if (event === 'dropped')
          terminal.tell(`${droppedIn(data)} rows were left out here, because they arrived too fast.`)
        if (event === 'place') place = id
        if (event === 'away')
          terminal.tell(`${gateway.url} cannot read its log now; the rows follow when it can.`)
        if (event === 'back') terminal.tell(`${gateway.url} can read its log again.`)
      }
    } catch (error) {
      if (signal.aborted) return
      const isLost = !(error instanceof CommandError) || error.exitCode === exitCodes.unreachable
      if (!isLost || isFirst) throw error
      if (!isAway) terminal.tell(`${gateway.url} is not responding; retrying.`)
      isAway = true
    }
    await sleep(pauses.next(), undefined, { signal }).catch(() => {})
  }
}

async function* eventsOf(answer: Response): AsyncGenerator<ServerEvent> {
  const reader = new EventReader()
  for await (const bytes of answer.body ?? []) yield* reader.push(Buffer.from(bytes))
}

function droppedIn(data: string): number {
  const read: unknown = JSON.parse(data)
  return typeof read === 'object' && read !== null && 'dropped' in read ? Number(read.dropped) : 0
}
