import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'

/**
 * burst: `jobs` submitted as fast as they are taken, over all connections.
 * rate: each at its fixed time, whatever became of those before; what delays one counts as its latency.
 */
export type ImageDrive =
  | { kind: 'burst'; jobs: number }
  | { kind: 'rate'; perSecond: number; durationMs: number }

export interface Submitted {
  /** Of the jobs that were accepted. */
  ids: string[]
  /** Of the same, until the whole answer was read. */
  latenciesMs: number[]
  /** Why others were not, with counts. */
  errors: Record<string, number>
  /** Milliseconds since the epoch. */
  firstAt: number
}

export const connections = 16

/** Ask for one image each, with `Prefer: respond-async`, the tenants by turns. */
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

/** Undefined when it was accepted. */
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
    // 200: the job has ended before it was looked at for the answer.
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
