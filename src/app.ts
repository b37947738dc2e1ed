import type { IncomingMessage, ServerResponse } from 'node:http'
import express from 'express'
import { ownApi } from './api/answer.ts'
import { health, ready } from './api/health.ts'
import { modelRoutes } from './api/models.ts'
import { usageRoutes } from './api/usage.ts'
import type { Context } from './context.ts'
import { chat } from './gateway/chat.ts'
import { endpointOf, unknownPath } from './gateway/unknown-path.ts'

/**
 * The whole HTTP surface. Chat calls by their plain path go straight to their verb: Express's routing would cost a
 * tenth of what such a request costs in all. Every other spelling of the path, and all else, goes through the table.
 */
export function makeApp(context: Context) {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', 'simple')
  const { answer, answerUnlogged, authenticate } = ownApi(context)
  const models = modelRoutes({ catalog: context.catalog, authenticate })
  const usage = usageRoutes({
    database: context.database,
    authenticate,
    shipNow: () => context.ledger.shipNow(),
  })

  const chatCompletions = chat(context, endpointOf('/v1/chat/completions'))

  app.post('/v1/chat/completions', chatCompletions)
  app.get('/v1/models', answer('/v1/models', models.list))
  app.get('/v1/models/*id', answer('/v1/models/{id}', models.detail))
  app.get('/v1/usage/requests', answerUnlogged('/v1/usage/requests', usage.list))
  app.get('/v1/usage/requests/:id', answerUnlogged('/v1/usage/requests/{id}', usage.detail))
  app.get('/v1/usage/summary', answerUnlogged('/v1/usage/summary', usage.summary))
  app.get('/healthz', health())
  app.get('/readyz', ready(context))
  app.use(unknownPath(context))

  return (request: IncomingMessage, response: ServerResponse): void => {
    if (request.url === '/v1/chat/completions' && request.method === 'POST')
      void chatCompletions(request, response)
    else app(request, response)
  }
}
