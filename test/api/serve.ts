import type { AddressInfo } from 'node:net'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import type { Identity } from '../../src/access/identity.ts'
import { GatewayError } from '../../src/canonical/error.ts'

export const tenantId = '00000000-0000-4000-8000-000000000001'
export const keyId = '00000000-0000-4000-8000-0000000000a1'
export const groupId = '00000000-0000-4000-8000-0000000000b1'

export function identity(changes: Partial<Identity> = {}): Identity {
  return {
    keyId,
    keyName: 'test',
    tenantId,
    groupId,
    capture: 'content',
    usageScope: 'tenant',
    strict: false,
    allowedModels: undefined,
    allowedCidrs: undefined,
    expiresAt: undefined,
    disabled: false,
    limits: undefined,
    budgeted: false,
    ...changes,
  }
}

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: what a client reads from JSON.
  body: any
}

/** An app on a socket, with errors shown as they were thrown. */
export async function serve(
  routes: (app: Express) => void,
): Promise<{ get(path: string, headers?: Record<string, string>): Promise<Answer>; close(): void }> {
  const app = express()
  app.set('query parser', 'simple')
  routes(app)
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
