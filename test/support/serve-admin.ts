import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import type { Actor } from '../../src/access/actor.ts'
import type { AdminEndpoint } from '../../src/api/admin/endpoint.ts'
import type { AdminContext } from '../../src/api/admin/steps.ts'
import { type DispatchContext, dispatch } from '../../src/api/dispatch.ts'
import { BodyMemory } from '../../src/http/body-memory.ts'
import { makeLog } from '../../src/telemetry/log.ts'
import { unused } from './unused.ts'

export const operator: Actor = {
  kind: 'operator',
  id: null,
  userId: null,
  name: 'the operator',
  role: 'owner',
  tenantId: null,
  scopes: undefined,
}

export interface ServedAdmin {
  /** Without a slash at its end. */
  url: string
  close(): void
}

/**
 * Serves endpoints of the admin API on a socket, in this process. Each call is made by the actor of that moment. Kept answers
 * are not encrypted, unless the context has a cipher.
 */
export async function serveAdmin(
  context: Pick<AdminContext, 'database'> & Partial<Pick<AdminContext, 'answers' | 'log'>>,
  endpoints: readonly AdminEndpoint[],
  actor: () => Actor = () => operator,
): Promise<ServedAdmin> {
  const app = express()
  const served: AdminContext = {
    answers: { encrypt: (answer) => answer, decrypt: (encrypted) => encrypted },
    bodies: new BodyMemory({
      bodiesBytesMax: 2 ** 26,
      keyBodiesBytesMax: 0,
      decodedBytesMax: 2 ** 26,
      bodyBytesMax: 2 ** 20,
    }),
    log: makeLog('silent'),
    revisions: { applied: async () => {} },
    ...context,
    authenticate: async () => actor(),
  }
  for (const endpoint of endpoints) {
    const handle = dispatch({ clients: unused as DispatchContext['clients'], admin: served }, endpoint)
    app.all(endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1'), (request, response, next) =>
      request.method === endpoint.method ? handle(request, response) : next(),
    )
  }
  const server = createServer(app).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
