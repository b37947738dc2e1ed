import express, { type Express } from 'express'
import { health, ready } from './api/health.ts'
import type { Context } from './context.ts'
import { chat } from './gateway/chat.ts'
import { endpointOf, unknownPath } from './gateway/unknown-path.ts'

/** The whole HTTP surface. The hot path comes first, and no middleware stands before it. */
export function makeApp(context: Context): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', 'simple')

  app.post('/v1/chat/completions', chat(context, endpointOf('/v1/chat/completions')))
  app.get('/healthz', health())
  app.get('/readyz', ready(context))
  app.use(unknownPath(context))
  return app
}
