import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * An upstream that makes images in three formats. Words in the prompt say what it does:
 *
 * - `delay:MS` it waits before it answers; `drip:MS` it waits between the two halves of a large answer;
 * - `held` it answers only after `release`, when `hold` was called before; `hang` it never answers;
 * - `fail:STATUS` it answers with this status; `fail-first:N` the first N calls of this prompt fail with 500; `quote` its
 *   error names the credential;
 * - `cut` the connection breaks in the middle of the answer; `garbage` the answer holds no image;
 * - `bytes:N` each image has N bytes; `links` it gives links; `fewer`, `over:N` it makes one image less, or N more;
 * - `deadlink:I`, `spoilt:I`, `huge:I` image I, counted from 0, has a link to nothing, is not an image, has 200 kB;
 * - in a stream: `breaks:N`, `tells:N` after N images the connection breaks, or an error comes; `previews:N` it sends N
 *   previews, even if the request asked for another number; `endless` an event of 6 MB has no end; `rests:N` it sends N
 *   previews, with `twice` those of two images, and then nothing more;
 * - in a chat: `calls:N` it answers only the first N calls of this prompt.
 */
export interface ImageUpstream {
  /** Base URL with `/v1`. */
  url: string
  /** Every call, in order. */
  calls: { path: string; body: Record<string, unknown>; authorization: string | undefined }[]
  /** Calls by prompt. */
  count(prompt: string): number
  /** Calls that run now. */
  running(): number
  /** The most calls that ever ran at once. */
  peak(): number
  hold(): void
  release(): void
  close(): Promise<void>
}

/** A picture of one pixel. Its bytes also hold `text`, so that a test can tell two of them apart. */
export function png(text = ''): Buffer {
  const pixel =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  return Buffer.concat([Buffer.from(pixel, 'base64'), Buffer.from(text)])
}

export async function startImageUpstream(): Promise<ImageUpstream> {
  const calls: ImageUpstream['calls'] = []
  let running = 0
  let peak = 0
  let holding: PromiseWithResolvers<void> | undefined
  const server = createServer((request, response) => {
    running++
    peak = Math.max(peak, running)
    response.once('close', () => {
      running--
    })
    void answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const count = (prompt: string) => calls.filter(({ body }) => promptOf(body) === prompt).length

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') {
      if (request.url?.includes('dead')) {
        response.writeHead(404).end()
        return
      }
      response.writeHead(200, { 'content-type': 'image/png' }).end(png('linked'))
      return
    }
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body: Record<string, unknown> = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    const path = request.url ?? ''
    calls.push({ path, body, authorization: request.headers.authorization })
    const prompt = promptOf(body)
    const order = count(prompt)
    const word = (name: string) => new RegExp(`\\b${name}(?::(\\d+))?\\b`).exec(prompt)
    if (word('hang')) return
    if (word('held')) await holding?.promise
    await sleep(Number(word('delay')?.[1] ?? 0))
    const failing = word('fail-first')?.[1]
    const status =
      failing !== undefined && count(prompt) <= Number(failing) ? 500 : Number(word('fail(?!-)')?.[1] ?? 200)
    const answered = Number(/\bcalls:(\d+)/.exec(prompt)?.[1] ?? Number.POSITIVE_INFINITY)
    if (path.endsWith('/chat/completions') && order > answered) {
      response.writeHead(500).end()
      return
    }
    if (status !== 200) {
      const error = {
        message: `made to fail with ${status}${word('quote') ? ` for ${request.headers.authorization}` : ''}`,
        type: 'x',
        code: status === 400 ? 'moderation_blocked' : null,
      }
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
      return
    }
    if (word('garbage')) {
      const data = [{ b64_json: Buffer.from('<html>no image</html>').toString('base64') }]
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ created: 1, data }))
      return
    }
    if (word('cut')) {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write(`{"created":1,"data":[{"b64_json":"${png().toString('base64')}`)
      setTimeout(() => response.destroy(), 20)
      return
    }
    if (path.endsWith('/images/generations')) imagesAnswer(body, prompt, response, `http://127.0.0.1:${port}`)
    else if (path.endsWith('/responses')) responsesAnswer(prompt, response)
    else chatAnswer(prompt, response)
  }

  return {
    url: `http://127.0.0.1:${port}/v1`,
    calls,
    count,
    running: () => running,
    peak: () => peak,
    hold() {
      holding ??= Promise.withResolvers()
    },
    release() {
      holding?.resolve()
      holding = undefined
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** More bytes than the sniffer reads before a file is begun. */
const largeBytes = 32 * 1024

function promptOf(body: Record<string, unknown>): string {
  const { prompt, input, messages } = body
  if (typeof prompt === 'string') return prompt
  if (typeof input === 'string') return input
  return JSON.stringify(messages ?? input)
}

function imagesAnswer(
  body: Record<string, unknown>,
  prompt: string,
  response: ServerResponse,
  origin: string,
): void {
  const wanted = typeof body.n === 'number' ? body.n : 1
  const numberOf = (name: string) => {
    const number = new RegExp(`\\b${name}:(\\d+)`).exec(prompt)?.[1]
    return number === undefined ? undefined : Number(number)
  }
  const count = (prompt.includes('fewer') ? wanted - 1 : wanted) + (numberOf('over') ?? 0)
  const drip = /\bdrip:(\d+)\b/.exec(prompt)?.[1]
  const filling = drip === undefined ? '' : ' '.repeat(largeBytes)
  const bytes = Number(/\bbytes:(\d+)/.exec(prompt)?.[1] ?? 0)
  const images = Array.from({ length: count }, (_, i) => png(`${prompt} ${i}${filling}`.padEnd(bytes, '.')))
  const spoilt = numberOf('spoilt')
  if (spoilt !== undefined) images[spoilt] = Buffer.from('<html>no image</html>')
  const huge = numberOf('huge')
  if (huge !== undefined) images[huge] = png(' '.repeat(200_000))
  const usage = { input_tokens: 10, output_tokens: 100 * count, total_tokens: 10 + 100 * count }
  if (body.stream === true) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (type: string, data: object) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, created_at: 1, ...data })}\n\n`)
    if (prompt.includes('endless')) {
      response.end(`data: ${'{ "words": "more", '.repeat(300_000)}`)
      return
    }
    const rests = numberOf('rests')
    const previews = rests ?? numberOf('previews') ?? Number(body.partial_images ?? 0)
    for (let sent = 0; sent < (prompt.includes('twice') ? 2 : 1) * previews; sent++) {
      const preview = png(`preview ${sent}`).toString('base64')
      send('image_generation.partial_image', { b64_json: preview, partial_image_index: sent % previews })
    }
    if (rests !== undefined) return
    const stopsAfter = numberOf('breaks') ?? numberOf('tells') ?? count
    for (const image of images.slice(0, stopsAfter))
      send('image_generation.completed', { b64_json: image.toString('base64'), usage })
    if (prompt.includes('tells:'))
      send('error', { error: { message: 'made to fail within', type: 'server_error' } })
    if (prompt.includes('breaks:')) setTimeout(() => response.destroy(), 20)
    else response.end()
    return
  }
  const data = images.map((image, index) =>
    prompt.includes('links')
      ? {
          url: `${origin}/files/${index === numberOf('deadlink') ? 'dead' : index}.png`,
          revised_prompt: `revised ${prompt}`,
        }
      : { b64_json: image.toString('base64'), revised_prompt: `revised ${prompt}` },
  )
  response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'upstream-1' })
  const answer = JSON.stringify({ created: 1, data, usage, size: '1024x1024', quality: 'high' })
  if (drip === undefined) {
    response.end(answer)
    return
  }
  response.write(answer.slice(0, answer.length / 2))
  setTimeout(() => response.end(answer.slice(answer.length / 2)), Number(drip))
}

function responsesAnswer(prompt: string, response: ServerResponse): void {
  const call = {
    type: 'image_generation_call',
    id: 'ig_1',
    status: 'completed',
    result: png(prompt).toString('base64'),
  }
  const answer = {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'served',
    output: [call],
    usage: { input_tokens: 5, output_tokens: 50, total_tokens: 55 },
  }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}

function chatAnswer(prompt: string, response: ServerResponse): void {
  const images = [
    { type: 'image_url', image_url: { url: `data:image/png;base64,${png(prompt).toString('base64')}` } },
  ]
  const answer = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'served',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: '', images } }],
    usage: { prompt_tokens: 5, completion_tokens: 50, total_tokens: 55 },
  }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}
