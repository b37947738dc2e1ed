import { createBullBoard } from '@bull-board/api'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { ExpressAdapter } from '@bull-board/express'
import type { Queue } from 'bullmq'
import type { Pages } from './queue.ts'

/** Pages to look at the queues. They are read only: a job that is changed here would not know of it in Postgres. */
export function queueBoard(queues: readonly Pick<Queue, 'name'>[], basePath: string): Pages {
  const server = new ExpressAdapter().setBasePath(basePath)
  createBullBoard({
    queues: queues.map(adapterOf),
    serverAdapter: server,
    options: { uiConfig: { boardTitle: 'Tollgate queues' } },
  })
  const pages: Pages = server.getRouter()
  return (request, response, next) => {
    if (request.method === 'GET' || request.method === 'HEAD') return pages(request, response, next)
    // Its own check is made by each of its routes; this one holds for those to come.
    response.writeHead(405, { allow: 'GET, HEAD', 'content-type': 'application/json' })
    response.end('{"error":"These pages change nothing: cancel a job by the API"}')
  }
}

/** What its constructor says it takes is a queue on Redis; it takes one on Postgres too. */
function adapterOf(queue: Pick<Queue, 'name'>): BullMQAdapter {
  return Reflect.construct(BullMQAdapter, [queue, { readOnlyMode: true, allowRetries: false }])
}
