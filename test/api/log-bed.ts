import { freeKey, gatewayYaml } from '../support/gateway-yaml.ts'
import { adminToken } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

export interface LogBed extends Testbed {
  url: string
  /** POST a body, and return the id of its request. */
  send(body: string, key?: string, path?: string): Promise<string>
  /** The answer to the operator below `/admin/v1/requests/`. */
  // biome-ignore lint/suspicious/noExplicitAny: what a client reads from JSON.
  read(path: string): Promise<{ status: number; body: any }>
}

/** A gateway whose log the operator reads. Of requests by `abortKey` it keeps the shape alone. */
export async function startLogBed(env: Record<string, string>): Promise<LogBed> {
  const bed = await startTestbed({
    env: { ADMIN_TOKEN: adminToken, ...env },
    yaml: (upstreamUrl) =>
      gatewayYaml(upstreamUrl).replace(
        '{ name: abort, group: abort,',
        '{ name: abort, capture: shape, group: abort,',
      ),
  })
  const url = `http://127.0.0.1:${bed.tollgate.port}`
  return {
    ...bed,
    url,
    async send(body, key = freeKey, path = '/v1/chat/completions') {
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${key}`,
          'user-agent': 'test/1',
        },
        body,
      })
      await response.text()
      return response.headers.get('x-request-id') ?? ''
    },
    async read(path) {
      const response = await fetch(`${url}/admin/v1/requests/${path}`, {
        headers: { authorization: `Bearer ${adminToken}` },
      })
      return { status: response.status, body: JSON.parse(await response.text()) }
    },
  }
}
