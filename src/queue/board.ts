import { createBullBoard } from '@bull-board/api'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { ExpressAdapter } from '@bull-board/express'
import type { Queue } from 'bullmq'
import type { QueuePages } from './queue.ts'

/** Pages that show the queues. They are read-only: Postgres would not learn of a job that is changed here. */
export function queueBoard(queues: readonly Pick<Queue, 'name'>[], basePath: string): QueuePages {
  const server = new ExpressAdapter().setBasePath(basePath)
  createBullBoard({
    queues: queues.map(adapterOf),
    serverAdapter: server,
    options: { uiConfig: { boardTitle: 'Tollgate queues' } },
  })
  const pages: QueuePages = server.getRouter()
  return (request, response, next) => {
    if (request.method === 'GET' || request.method === 'HEAD') return pages(request, response, next)
    // Each route of the pages checks this itself; we check it also for routes that a later version adds.
    response.writeHead(405, { allow: 'GET, HEAD', 'content-type': 'application/json' })
    response.end('{"error":"These pages change nothing: cancel a job by the API"}')
  }
}

/** The types of its constructor accept only a queue on Redis; it works with one on Postgres too. */
function adapterOf(queue: Pick<Queue, 'name'>): BullMQAdapter {
  return Reflect.construct(BullMQAdapter, [queue, { readOnlyMode: true, allowRetries: false }])
}
