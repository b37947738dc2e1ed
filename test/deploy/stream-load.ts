import { freeKey } from '../support/gateway-yaml.ts'
import { until } from '../support/until.ts'
import type { Stack } from './stack.ts'

/** What a gateway says about an image, and of a key that it does not have in memory, while Postgres does not answer. */
const awayMessage = /which does not answer|cannot check API keys at the moment/

/** Clients that ask without pause, each for a stream of a second, and two for images. */
export function startLoad({ url, fetch }: Pick<Stack, 'url' | 'fetch'>, streams: number) {
  let running = true
  let mayRefuse = false
  let made = 0
  let painted = 0
  const refused: string[] = []
  const answered: string[] = []
  const lost: string[] = []
  const post = (path: string, body: object) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${freeKey}` },
      body: JSON.stringify(body),
    })

  async function ask(): Promise<void> {
    const marker = `stack-${++made}`
    const messages = [{ role: 'user', content: 'Hello' }]
    try {
      const answer = await post('/v1/chat/completions', {
        model: 'paced-10x100',
        messages,
        stream: true,
        marker,
      })
      const text = await answer.text()
      const seen = `${marker}: ${answer.status} ${text.slice(-300)}`
      if (answer.status === 200 && text.trimEnd().endsWith('data: [DONE]')) answered.push(marker)
      else if (answer.status === 503 && awayMessage.test(text)) refused.push(seen)
      else lost.push(seen)
    } catch (cause) {
      lost.push(`${marker}: ${cause} ${cause instanceof Error ? cause.cause : ''}`)
    }
  }

  async function paint(): Promise<void> {
    const prompt = `delay:300 picture ${++made}`
    try {
      const answer = await post('/v1/images/generations', { model: 'draw', prompt })
      const text = await answer.text()
      const seen = `${prompt}: ${answer.status} ${text.slice(-300)}`
      if (answer.status === 200) painted++
      // Postgres may be away for longer than a job may wait to be accepted.
      else if (answer.status === 503 && (mayRefuse || awayMessage.test(text))) refused.push(seen)
      else lost.push(seen)
    } catch (cause) {
      lost.push(`${prompt}: ${cause}`)
    }
  }

  const again = async (work: () => Promise<void>) => {
    while (running) await work()
  }
  const clients = [
    ...Array.from({ length: streams }, () => again(ask)),
    ...Array.from({ length: 2 }, () => again(paint)),
  ]
  return {
    /** Resolves when as many streams as there are clients have begun and ended since now. */
    async more(): Promise<void> {
      const [from, paintedFrom] = [answered.length + lost.length, painted + lost.length]
      await until(
        () => answered.length + lost.length >= from + 2 * streams && painted + lost.length > paintedFrom,
        120_000,
      )
    },
    /** Those that Postgres would have been needed for. */
    refused: () => refused,
    mayRefuseImages(may: boolean): void {
      mayRefuse = may
    },
    async stop() {
      running = false
      await Promise.all(clients)
      return { answered, painted, refused, lost }
    },
  }
}
