import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import type { Actor } from '../../src/access/actor.ts'
import { answerAdmin } from '../../src/api/admin/answer.ts'
import type { AdminEndpoint } from '../../src/api/admin/endpoint.ts'
import type { Context } from '../../src/context.ts'

/** Call one endpoint of the admin API over HTTP, as this actor. */
export async function callAs(
  context: Context,
  endpoint: AdminEndpoint,
  actor: Actor,
  path: string,
  init: RequestInit = {},
): Promise<{ status: number; headers: Headers; text: string; body: Record<string, unknown> }> {
  const app = express()
  const handle = answerAdmin({ ...context, authenticate: async () => actor }, endpoint)
  app.all(endpoint.path.replace(/\{(\w+)\}/g, ':$1'), handle)
  const server = createServer(app).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  try {
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, init)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') === true
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && !text.includes('\n') ? JSON.parse(text) : {},
    }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
