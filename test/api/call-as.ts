import type { Actor } from '../../src/access/actor.ts'
import type { AdminEndpoint } from '../../src/api/admin/endpoint.ts'
import type { Context } from '../../src/process/context.ts'
import { serveAdmin } from '../support/serve-admin.ts'

/** Call one endpoint of the admin API over HTTP, as this actor. */
export async function callAs(
  context: Context,
  endpoint: AdminEndpoint,
  actor: Actor,
  path: string,
  init: RequestInit = {},
): Promise<{ status: number; headers: Headers; text: string; body: Record<string, unknown> }> {
  const server = await serveAdmin(context, [endpoint], () => actor)
  try {
    const response = await fetch(`${server.url}${path}`, init)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') === true
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && !text.includes('\n') ? JSON.parse(text) : {},
    }
  } finally {
    server.close()
  }
}
