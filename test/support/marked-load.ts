import { setTimeout as sleep } from 'node:timers/promises'
import { freeKey, paidKey } from './gateway-yaml.ts'
import type { Random } from './random.ts'
import { until } from './until.ts'

/** A call with a marker of its own, as its client saw it. Times of Date.now(). */
export interface MarkedCall {
  marker: string
  at: string
  begun: number
  ended: number
  /** The client has the whole of a good answer. */
  isAnswered: boolean
}

export interface Load {
  calls: ReadonlyMap<string, MarkedCall>
  /** Waits for this many whole answers. */
  more(count: number): Promise<void>
  stop(): Promise<void>
}

const clients = 12
const withinMs = 30_000

/** Clients that call without pause, streamed and not, with limited money and without, and accept any failure. */
export function startLoad(random: Random, targets: () => readonly { name: string; url: string }[]): Load {
  const calls = new Map<string, MarkedCall>()
  let running = true
  let answered = 0
  const client = async (name: number) => {
    for (let turn = 0; running; turn++) {
      const [target] = random.shuffle([...targets()])
      if (target === undefined) {
        await sleep(50)
        continue
      }
      const call: MarkedCall = {
        marker: `m-${name}-${turn}`,
        at: target.name,
        begun: Date.now(),
        ended: 0,
        isAnswered: false,
      }
      calls.set(call.marker, call)
      call.isAnswered = await ask(target.url, call.marker, {
        stream: turn % 2 === 0,
        key: name % 3 === 0 ? paidKey : freeKey,
      })
      call.ended = Date.now()
      if (call.isAnswered) answered += 1
      else await sleep(random.upTo(50))
    }
  }
  const all = Array.from({ length: clients }, (_, name) => client(name))
  return {
    calls,
    async more(count) {
      const goal = answered + count
      await until(() => answered >= goal, 120_000)
    },
    async stop() {
      running = false
      await Promise.all(all)
    },
  }
}

async function ask(
  url: string,
  marker: string,
  { stream, key }: { stream: boolean; key: string },
): Promise<boolean> {
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: stream ? 'paced-20x20' : 'priced',
        stream,
        max_tokens: 10,
        messages: [{ role: 'user', content: 'x' }],
        user: marker,
        metadata: { marker },
      }),
      signal: AbortSignal.timeout(withinMs),
    })
    const text = await response.text()
    return response.status === 200 && (!stream || text.includes('[DONE]'))
  } catch {
    return false
  }
}
