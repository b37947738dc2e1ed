import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'

/**
 * burst: submits `jobs` as fast as the gateway accepts them, over all connections.
 * rate: submits each job at its fixed time, whatever happened to those before. A delay counts as latency.
 */
export type ImageDrive =
  | { kind: 'burst'; jobs: number }
  | { kind: 'rate'; perSecond: number; durationMs: number }

export interface Submitted {
  /** The ids of accepted jobs. */
  ids: string[]
  /** The latencies of the same jobs, until the whole answer had come. */
  latenciesMs: number[]
  /** The errors of the other requests, with counts. */
  errors: Record<string, number>
  /** Milliseconds since the epoch. */
  firstAt: number
}

export const connections = 16

/** Ask for one image with each request, with `Prefer: respond-async`, for the tenants in turn. */
export async function submitImages(
  origin: string,
  keys: readonly string[],
  model: string,
  drive: ImageDrive,
): Promise<Submitted> {
  const pool = new Pool(origin, { connections, pipelining: 1 })
  const submitted: Submitted = { ids: [], latenciesMs: [], errors: {}, firstAt: Date.now() }
  let sent = 0
  const submit = async (intendedMs: number) => {
    const number = sent++
    const error = await submitOne(
      pool,
      keys[number % keys.length] ?? '',
      model,
      number,
      intendedMs,
      submitted,
    )
    if (error !== undefined) submitted.errors[error] = (submitted.errors[error] ?? 0) + 1
  }
  if (drive.kind === 'burst') {
    const lane = async () => {
      while (sent < drive.jobs) await submit(performance.now())
    }
    await Promise.all(Array.from({ length: connections }, lane))
  } else {
    const began = performance.now()
    const all: Promise<void>[] = []
    for (let index = 0; index < (drive.perSecond * drive.durationMs) / 1000; index++) {
      const intendedMs = began + (index * 1000) / drive.perSecond
      await sleep(Math.max(0, intendedMs - performance.now()))
      all.push(submit(intendedMs))
    }
    await Promise.all(all)
  }
  await pool.close()
  return submitted
}

/** Resolves with undefined when the job was accepted. */
async function submitOne(
  pool: Pool,
  key: string,
  model: string,
  number: number,
  intendedMs: number,
  submitted: Submitted,
): Promise<string | undefined> {
  try {
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: '/v1/images/generations',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${key}`,
        prefer: 'respond-async',
      },
      body: JSON.stringify({ model, prompt: `${prompt} Number ${number}.`, size: '1024x1024' }),
    })
    const text = await body.text()
    // 200: the job had ended when the gateway read it for the answer.
    if (statusCode !== 202 && statusCode !== 200)
      return `submit answered ${statusCode}: ${text.slice(0, 200)}`
    submitted.latenciesMs.push(performance.now() - intendedMs)
    submitted.ids.push(JSON.parse(text).id)
    return undefined
  } catch (error) {
    return `submit failed: ${error instanceof Error ? error.message : String(error)}`
  }
}

const prompt =
  'A toll gate on a mountain road at dawn, seen from above: two lanes, one barrier open, a queue of lorries that ' +
  'reaches down into the fog, pine trees, wet asphalt, warm light in the window of the keeper. Pen and watercolour.'
