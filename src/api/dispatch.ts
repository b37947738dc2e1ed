import type { Request, Response } from 'express'
import type { Gateway } from '../pipeline/gateway.ts'
import type { AdminEndpoint } from './admin/endpoint.ts'
import { type AdminContext, adminSteps } from './admin/steps.ts'
import { clientSteps } from './client-steps.ts'
import { type ClientEndpoint, checkedBy } from './endpoint.ts'

/** Any entry of our own API. */
export type ApiEndpoint = ClientEndpoint | AdminEndpoint

/** What calls need, by who makes them. */
export interface DispatchContext {
  clients: Gateway
  admin: AdminContext
}

/**
 * Handles a route of our own API: admits the caller, reads and checks the input, and answers. `guard` of the
 * entry decides who is admitted, and how the call is answered, refused and recorded.
 */
export function dispatch({ clients, admin }: DispatchContext, endpoint: ApiEndpoint) {
  return async (request: Request, response: Response): Promise<void> => {
    const left = new AbortController()
    response.once('close', () => left.abort(new Error('the client has left')))
    const steps =
      endpoint.guard === 'admin'
        ? adminSteps(admin, endpoint, { request, response, left: left.signal })
        : clientSteps(clients, endpoint, { request, response, signal: left.signal })
    response.setHeader('x-request-id', steps.requestId)
    // What a caller can see is private to it. Shared caches know the `authorization` header, but no other
    // header that carries a key.
    if (endpoint.guard !== 'link') response.setHeader('cache-control', 'no-store')
    try {
      await steps.admit()
      const sent = await steps.read({ params: textsOf(request.params), query: request.query })
      await steps.finish(await steps.handle(checkedBy(endpoint, sent)))
    } catch (cause) {
      await steps.refuse(cause)
    } finally {
      steps.release()
    }
  }
}

/** Express passes a list for a part of the path that may contain slashes. */
export function textsOf(params: Request['params']): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, [value].flat().join('/')]))
}
