import { createBullBoard } from '@bull-board/api'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { ExpressAdapter } from '@bull-board/express'
import type { Queue } from 'bullmq'
import type { QueuePages } from './queue.ts'

/** Pages that show the queues. They are read-only because Postgres would not see changes made here. */
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
    // The pages' own routes check this too; checking here also covers routes added by a later version.
    response.writeHead(405, { allow: 'GET, HEAD', 'content-type': 'application/json' })
    response.end('{"error":"These pages are read-only. Use the API to cancel a job."}')
  }
}

/** The constructor's types only accept a queue on Redis, but it also works with one on Postgres. */
function adapterOf(queue: Pick<Queue, 'name'>): BullMQAdapter {
  return Reflect.construct(BullMQAdapter, [queue, { readOnlyMode: true, allowRetries: false }])
}
