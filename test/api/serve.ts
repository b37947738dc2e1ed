import type { AddressInfo } from 'node:net'
import express, { type NextFunction, type Request, type Response } from 'express'
import type { Identity } from '../../src/access/identity.ts'
import { textsOf } from '../../src/api/dispatch.ts'
import { type ClientEndpoint, checkedBy, routeOf } from '../../src/api/endpoint.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import type { Group, Snapshot } from '../../src/catalog/snapshot.ts'
import { groupSettingsOfRequests } from '../../src/db/settings/group-settings.ts'
import { settingsOfParents } from '../../src/db/settings/key-settings.ts'
import { defaultsOf } from '../../src/db/settings/setting.ts'
import { HttpExchange } from '../../src/http/http-exchange.ts'
import type { Books } from '../../src/pipeline/books.ts'
import { formatAt } from '../../src/pipeline/endpoints.ts'
import type { Identified } from '../../src/pipeline/identify.ts'
import { arrive } from '../../src/pipeline/received.ts'

export const tenantId = '00000000-0000-4000-8000-000000000001'
export const keyId = '00000000-0000-4000-8000-0000000000a1'
export const groupId = '00000000-0000-4000-8000-0000000000b1'

export function identity(changes: Partial<Identity> = {}): Identity {
  return {
    keyId,
    keyName: 'test',
    tenantId,
    groupId,
    ...defaultsOf(settingsOfParents),
    usageScope: 'tenant',
    allowedModels: undefined,
    allowedCidrs: undefined,
    expiresAt: undefined,
    disabled: false,
    limits: undefined,
    budgeted: false,
    parent: undefined,
    blocked: false,
    subKeysMax: 0,
    ...changes,
  }
}

/** A group that may use everything. */
export const anyGroup: Group = {
  id: groupId,
  name: 'default',
  ...defaultsOf(groupSettingsOfRequests),
  budgeted: false,
}

export const emptySnapshot: Snapshot = {
  revision: 1,
  models: new Map(),
  anyModel: undefined,
  channels: new Map(),
  groups: new Map(),
  tenants: new Map(),
  soleTenants: new Map(),
}

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: what a client reads from JSON.
  body: any
}

/** The caller, and the catalog at that moment. */
export type Asking = Pick<Identified, 'identity' | 'group' | 'snapshot'>

/** These endpoints plan nothing and charge nothing. */
const noBooks = {} as Books

/** Serves endpoints of our own API on a socket, called as `asking()` says. Errors are shown as they were thrown. */
export async function serve(
  endpoints: readonly ClientEndpoint[],
  asking: () => Asking,
): Promise<{ get(path: string, headers?: Record<string, string>): Promise<Answer>; close(): void }> {
  const app = express()
  app.set('query parser', 'simple')
  for (const endpoint of endpoints) {
    const { method, path } = endpoint
    if (method !== 'GET' || endpoint.guard !== 'key') throw new Error(`${method} ${path} is not served here`)
    app.get(routeOf(endpoint), async (request, response) => {
      const exchange = new HttpExchange(request, response)
      const received = { exchange, caller: undefined, token: undefined, headers: {} }
      const stage = Object.assign(arrive(noBooks, Date.now(), formatAt(path), null), received, asking())
      const { query } = request
      const params = textsOf(request.params)
      const answer = await endpoint.handle({
        ...{ stage, request, response, requestId: stage.id, signal: new AbortController().signal },
        ...checkedBy(endpoint, { params, query, body: undefined }),
      })
      response.set(answer?.headers ?? {}).json(answer?.body)
    })
  }
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    if (!(error instanceof GatewayError)) throw error
    const { kind, message, field } = error
    response.status(400).json({ kind, message, field })
  })
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  return {
    async get(path, headers = {}) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
      return { status: response.status, body: await response.json() }
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
