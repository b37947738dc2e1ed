import { createServer } from 'node:http'
import { appRoutes } from '@bull-board/api/dist/routes.js'
import express from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { queueBackends } from '../support/queue-backends.ts'
import { freshBackend, open } from './queue-bed.ts'

const listing = z.object({
  queues: z.array(
    z.object({
      name: z.string(),
      readOnlyMode: z.boolean(),
      isPaused: z.boolean(),
      counts: z.record(z.string(), z.number()),
      jobs: z.array(z.object({ data: z.unknown() })),
    }),
  ),
})

describe.each(queueBackends())('the pages of the queues on %s', (backend) => {
  test('show both queues and their jobs', async () => {
    const { url, queues } = await served(backend)
    await queues.images.add([
      { id: 'one', priority: 10 },
      { id: 'two', priority: 20, delayMs: 60_000 },
    ])
    const page = await fetch(`${url}/`)
    expect(page.status).toBe(200)
    const html = await page.text()
    expect(html).toContain('Tollgate queues')
    const script = /src="([^"]+\.js)"/.exec(html)?.[1] ?? ''
    expect((await fetch(new URL(script, `${url}/`))).status).toBe(200)

    const asked = await fetch(`${url}/api/queues?activeQueue=tollgate-images&status=latest`)
    const [images, webhooks] = listing.parse(await asked.json()).queues
    expect(images).toMatchObject({
      name: 'tollgate-images',
      readOnlyMode: true,
      counts: { prioritized: 1, delayed: 1, active: 0 },
    })
    expect(images?.jobs.map(({ data }) => data)).toEqual(
      expect.arrayContaining([
        { v: 1, id: 'one' },
        { v: 1, id: 'two' },
      ]),
    )
    expect(webhooks?.name).toBe('tollgate-webhooks')
    expect((await fetch(`${url}/api/queues/tollgate-images/id-one`)).status).toBe(200)
    expect((await fetch(`${url}/api/redis/stats`)).status).toBe(200)
  })

  test('change nothing', async () => {
    const { url, queues } = await served(backend)
    await queues.images.add([
      { id: 'one', priority: 10 },
      { id: 'two', priority: 20, delayMs: 60_000 },
    ])
    const changes = appRoutes.api.flatMap(({ method, route }) =>
      [method]
        .flat()
        .flatMap((verb) => (verb === 'get' ? [] : [route].flat().map((path) => ({ verb, path })))),
    )
    expect(changes.length).toBeGreaterThan(20)
    for (const { verb, path } of changes) {
      const place = path
        .replace(':queueName', 'tollgate-images')
        .replace(':jobId', 'id-two')
        .replace(':queueStatus', 'delayed')
      const answer = await fetch(`${url}${place}`, {
        method: verb.toUpperCase(),
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          name: 'run',
          data: { v: 1, id: 'forged' },
          options: {},
          priority: 1,
          delay: 0,
        }),
      })
      expect([verb, path, answer.status]).toEqual([verb, path, 405])
    }
    expect(await queues.images.counts()).toEqual({ waiting: 1, delayed: 1, active: 0 })
    const { queues: shown } = listing.parse(await (await fetch(`${url}/api/queues`)).json())
    expect(shown.map(({ isPaused }) => isPaused)).toEqual([false, false, false, false, false])
  })
})

async function served(backend: 'postgres' | 'redis') {
  const queues = await open(await freshBackend(backend))
  const app = express().use('/admin/queues', await queues.board('/admin/queues'))
  const server = createServer(app)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { url: `http://127.0.0.1:${port}/admin/queues`, queues }
}
