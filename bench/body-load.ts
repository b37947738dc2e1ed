// Sends large bodies for bench/bodies.ts, in a process of its own. For each BodyTask it sends `many` of them at the same time,
// again and again until the time is over, and then a BodyResult.
import { Pool } from 'undici'
import { nowUs } from './answers.ts'

export interface BodyTask {
  origin: string
  /** One for each kind of body; each is sent by a key of its own. */
  bodies: { key: string; bytes: number; many: number }[]
  path: '/v1/chat/completions' | '/v1/messages' | '/v1/responses'
  model: string
  content: 'image' | 'text'
  durationMs: number
}

export interface BodyResult {
  sent: number
  /** Statuses other than 200, with counts. */
  refused: Record<string, number>
}

process.on('message', (task: BodyTask) => {
  void run(task).then((result) => process.send?.(result))
})
process.on('disconnect', () => process.exit(0))
process.send?.({ ready: true })

async function run(task: BodyTask): Promise<BodyResult> {
  const pool = new Pool(task.origin, { connections: 64, headersTimeout: 120_000 })
  const result: BodyResult = { sent: 0, refused: {} }
  const until = nowUs() + task.durationMs * 1000
  await Promise.all(
    task.bodies.flatMap(({ key, bytes, many }) => {
      const body = bodyOf(task, bytes)
      const lane = async () => {
        while (nowUs() < until) {
          const { statusCode, body: answer } = await pool.request({
            path: task.path,
            method: 'POST',
            headers: headersOf(task.path, key),
            body,
          })
          const text = await answer.text()
          result.sent++
          if (statusCode === 200) continue
          const name = `${statusCode} ${text.slice(0, 200)}`
          result.refused[name] = (result.refused[name] ?? 0) + 1
          await new Promise((resolve) => setTimeout(resolve, 1000))
        }
      }
      return Array.from({ length: many }, lane)
    }),
  )
  await pool.close()
  return result
}

function headersOf(path: BodyTask['path'], key: string): Record<string, string> {
  const type = { 'content-type': 'application/json' }
  return path === '/v1/messages'
    ? { ...type, 'x-api-key': key, 'anthropic-version': '2023-06-01' }
    : { ...type, authorization: `Bearer ${key}` }
}

const prose =
  'The quick gateway, as the "operators" say, passes over the lazy proxy.\nÜber allen Gipfeln: Ruh. '

function bodyOf({ path, model, content }: BodyTask, bytes: number): Buffer {
  const text = prose.repeat(Math.ceil(bytes / prose.length)).slice(0, bytes)
  const data = content === 'image' ? noise(bytes).toString('base64') : ''
  const part = (text: string) =>
    path === '/v1/responses' ? { type: 'input_text', text } : { type: 'text', text }
  const parts = content === 'text' ? [part(text)] : [part('What is this?'), imagePart(path, data)]
  const turns = [{ role: 'user', content: parts }]
  return Buffer.from(
    JSON.stringify(
      path === '/v1/responses'
        ? { model, max_output_tokens: 64, input: turns }
        : { model, max_tokens: 64, messages: turns },
    ),
  )
}

/** Bytes that look like a compressed picture, the same each time. */
function noise(bytes: number): Buffer {
  const noisy = Buffer.alloc(Math.floor((bytes * 3) / 4))
  let state = 0x2545f491
  for (let at = 0; at < noisy.length; at++) {
    state = (Math.imul(state, 0x19660d) + 0x3c6ef35f) | 0
    noisy[at] = state >>> 24
  }
  return noisy
}

function imagePart(path: BodyTask['path'], data: string): object {
  const url = `data:image/png;base64,${data}`
  if (path === '/v1/responses') return { type: 'input_image', image_url: url }
  if (path === '/v1/chat/completions') return { type: 'image_url', image_url: { url } }
  return { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
}
