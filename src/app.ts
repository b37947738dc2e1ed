import express, { type Express } from 'express'
import { ownApi } from './api/answer.ts'
import { health, ready } from './api/health.ts'
import { modelRoutes } from './api/models.ts'
import { usageRoutes } from './api/usage.ts'
import type { Context } from './context.ts'
import { chat } from './gateway/chat.ts'
import { endpointOf, unknownPath } from './gateway/unknown-path.ts'

/** The whole HTTP surface. The hot path comes first, and no middleware stands before it. */
export function makeApp(context: Context): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', 'simple')
  const { answer, answerUnlogged, authenticate } = ownApi(context)
  const models = modelRoutes({ catalog: context.catalog, authenticate })
  const usage = usageRoutes({ database: context.database, authenticate, shipNow: () => context.ledger.shipNow() })

  app.post('/v1/chat/completions', chat(context, endpointOf('/v1/chat/completions')))
  app.get('/v1/models', answer('/v1/models', models.list))
  app.get('/v1/models/*id', answer('/v1/models/{id}', models.detail))
  app.get('/v1/usage/requests', answerUnlogged('/v1/usage/requests', usage.list))
  app.get('/v1/usage/requests/:id', answerUnlogged('/v1/usage/requests/{id}', usage.detail))
  app.get('/v1/usage/summary', answerUnlogged('/v1/usage/summary', usage.summary))
  app.get('/healthz', health())
  app.get('/readyz', ready(context))
  app.use(unknownPath(context))
  return app
}
