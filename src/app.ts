import type { IncomingMessage, ServerResponse } from 'node:http'
import express from 'express'
import { adminEntries } from './api/admin-entries.ts'
import { adminQueues, queuesPath } from './api/admin-queues.ts'
import { ownApi } from './api/answer.ts'
import { budgetRoute } from './api/budget.ts'
import { health, ready } from './api/health.ts'
import { imageRoutes } from './api/images.ts'
import { modelRoutes } from './api/models.ts'
import { heldAnswerRoute } from './api/responses.ts'
import { tokenRoute } from './api/tokens.ts'
import { translateRoute } from './api/translate.ts'
import { usageRoutes } from './api/usage.ts'
import type { Context } from './context.ts'
import { chat } from './gateway/chat.ts'
import { images } from './images/images.ts'
import { endpointOf } from './stages/endpoints.ts'
import { failedRouting, unknownPath } from './stages/unknown-path.ts'

/**
 * The whole HTTP surface. Chat calls by their plain path go straight to their verb: Express's routing would cost a
 * tenth of what such a request costs in all. Every other spelling of the path, and all else, goes through the table.
 */
export function makeApp(context: Context) {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', 'simple')
  const { answer, answerUnlogged, authenticate, ownCall } = ownApi(context)
  const models = modelRoutes({ catalog: context.catalog, authenticate })
  const usage = usageRoutes({
    database: context.database,
    authenticate,
    shipNow: () => context.ledger.shipAll(),
  })

  const budget = budgetRoute({
    database: context.database,
    authenticate,
    shipNow: () => context.ledger.shipAll(),
  })
  const image = imageRoutes(context, ownCall)

  const chatCompletions = chat(context, endpointOf('/v1/chat/completions'))
  const responses = chat(context, endpointOf('/v1/responses'))
  const messages = chat(context, endpointOf('/v1/messages'))
  const fastLane = new Map([
    ['/v1/chat/completions', chatCompletions],
    ['/v1/responses', responses],
    ['/v1/messages', messages],
    ['/v1/messages?beta=true', messages],
  ])

  app.post('/v1/chat/completions', chatCompletions)
  app.post('/v1/responses', responses)
  app.post('/v1/messages', messages)
  app.post(
    '/v1/responses/input_tokens',
    answer('/v1/responses/input_tokens', tokenRoute(context, ownCall, 'openai-responses')),
  )
  app.post(
    '/v1/messages/count_tokens',
    answer('/v1/messages/count_tokens', tokenRoute(context, ownCall, 'anthropic-messages')),
  )
  app.get('/v1/responses/:id', answer('/v1/responses/{id}', heldAnswerRoute(context, ownCall, 'GET')))
  app.delete('/v1/responses/:id', answer('/v1/responses/{id}', heldAnswerRoute(context, ownCall, 'DELETE')))
  app.post('/v1/images/generations', images(context))
  app.get('/v1/images/generations', answerUnlogged('/v1/images/generations', image.list))
  app.get('/v1/images/generations/:id', answerUnlogged('/v1/images/generations/{id}', image.detail))
  app.delete('/v1/images/generations/:id', answer('/v1/images/generations/{id}', image.cancel))
  app.get(
    '/v1/images/generations/:id/events',
    answerUnlogged('/v1/images/generations/{id}/events', image.events),
  )
  app.get('/v1/images/files/:day/:name', answerUnlogged('/v1/images/files/{day}/{name}', image.file))
  app.get('/v1/images/webhook-secret', answerUnlogged('/v1/images/webhook-secret', image.secret))
  app.post('/v1/translate', answer('/v1/translate', translateRoute(context, ownCall)))
  app.get('/v1/models', answer('/v1/models', models.list))
  app.get('/v1/models/*id', answer('/v1/models/{id}', models.detail))
  app.get('/v1/usage/requests', answerUnlogged('/v1/usage/requests', usage.list))
  app.get('/v1/usage/requests/:id', answerUnlogged('/v1/usage/requests/{id}', usage.detail))
  app.get('/v1/usage/summary', answerUnlogged('/v1/usage/summary', usage.summary))
  app.get('/v1/usage/budget', answerUnlogged('/v1/usage/budget', budget))
  const { adminToken } = context.config
  if (adminToken !== undefined) {
    app.use(queuesPath, adminQueues(adminToken, context.queues))
    const entries = adminEntries({ database: context.database, adminToken, log: context.log })
    app.post('/admin/tenants/:name/entries', entries.book)
    app.get('/admin/tenants/:name/balance', entries.balance)
  }
  app.get('/healthz', health())
  app.get('/readyz', ready(context))
  app.use(unknownPath(context))
  app.use(failedRouting(context))

  return (request: IncomingMessage, response: ServerResponse): void => {
    const verb = request.method === 'POST' ? fastLane.get(request.url ?? '') : undefined
    if (verb === undefined) app(request, response)
    else void verb(request, response)
  }
}
