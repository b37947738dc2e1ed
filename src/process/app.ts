import type { IncomingMessage, ServerResponse } from 'node:http'
import express from 'express'
import { authenticateAdmin } from '../api/admin/authenticate.ts'
import { adminQueues, queuesPath } from '../api/admin/queues.ts'
import { AdminToken } from '../api/admin/token.ts'
import { dispatch } from '../api/dispatch.ts'
import { routeOf } from '../api/endpoint.ts'
import { apiEndpoints } from '../api/endpoints.ts'
import { health, ready } from '../api/health.ts'
import { openapi } from '../api/openapi.ts'
import { PublicCatalog } from '../api/public-catalog.ts'
import { failedRouting, unknownPath } from '../api/unknown-path.ts'
import { crossOrigin } from '../http/cors.ts'
import type { Handler } from '../http/exchange.ts'
import { HttpExchange } from '../http/http-exchange.ts'
import { isUpgrade } from '../http/upgrade.ts'
import { images } from '../images/images.ts'
import { chat } from '../pipeline/chat.ts'
import { type ModelEndpoint, modelEndpoints } from '../pipeline/endpoints.ts'
import { acceptSockets } from '../sockets/accept-sockets.ts'
import type { Context } from './context.ts'
import type { Pages } from './pages/pages.ts'

/**
 * Creates the whole HTTP interface: the model endpoints, our own API, and the operator's pages. A request for
 * a model endpoint goes straight to its handler, bypassing Express, whose routing would account for a tenth
 * of its cost. Express handles all other requests, and other spellings of these paths. `pages` is undefined
 * if they are off.
 */
export function makeApp(context: Context, pages?: Pick<Pages, 'answer'>) {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', 'simple')
  const direct = new Map<string, Handler>()

  for (const endpoint of modelEndpoints) {
    const handle = handlerOf(context, endpoint)
    app.post(endpoint.path, (request, response) => handle(new HttpExchange(request, response)))
    direct.set(endpoint.path, handle)
  }
  // The Messages vendor's SDK calls this path for beta features.
  const messages = direct.get('/v1/messages')
  if (messages !== undefined) direct.set('/v1/messages?beta=true', messages)

  const publicCatalog = new PublicCatalog(context)
  const { bounds, publicUrl } = context.config
  const adminToken =
    context.config.adminToken === undefined ? undefined : new AdminToken(context.config.adminToken, bounds)
  if (adminToken !== undefined) {
    app.use(queuesPath, adminQueues(queuesPath, adminToken, context.queues))
  }
  const authenticate = (request: IncomingMessage) => authenticateAdmin(context, adminToken, request)
  const own = apiEndpoints(context, publicCatalog)
  for (const endpoint of own) {
    const handle = dispatch({ clients: context, admin: { ...context, authenticate } }, endpoint)
    app[verbs[endpoint.method]](routeOf(endpoint), handle)
  }
  const forClients = own.filter(({ guard }) => guard !== 'admin')
  context.measures?.rows.learnPaths(forClients.map(({ path }) => path))
  app.get('/openapi.json', openapi({ models: modelEndpoints, own, publicUrl }, bounds.clientStallMs))
  app.get(['/healthz', '/health'], health())
  app.get('/readyz', ready(context))
  if (pages !== undefined) app.use(pages.answer((model) => publicCatalog.has(model)))
  app.use(unknownPath(context, [...modelEndpoints, ...forClients]))
  app.use(failedRouting(context))

  const paths = modelEndpoints.map(({ path }) => path)
  const isOpen = (path: string) =>
    [...paths, '/v1/models', '/v1/usage'].some((open) => path === open || path.startsWith(`${open}/`))
  const answerPage = crossOrigin(context.config, isOpen)
  const upgrade = acceptSockets(context, direct)

  return (request: IncomingMessage, response: ServerResponse): void => {
    if (isUpgrade(request)) {
      void upgrade(new HttpExchange(request, response))
      return
    }
    if (answerPage?.(request, response) === true) return
    const handle = request.method === 'POST' ? direct.get(request.url ?? '') : undefined
    if (handle === undefined) app(request, response)
    else void handle(new HttpExchange(request, response))
  }
}

function handlerOf(context: Context, endpoint: ModelEndpoint): Handler {
  return endpoint.kind === 'image' ? images(context, endpoint) : chat(context, endpoint)
}

const verbs = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const
