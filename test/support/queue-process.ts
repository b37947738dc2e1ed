// A worker of the queue of images, made to be killed: `node queue-process.ts OPTIONS`, the options of openQueues in JSON.
// It writes a line for each job that it begins, and never ends a job.

import { openQueues } from '../../src/jobs/queue/open.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'

const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)
const log = relayLog((_level, fields, message) => console.error(message, fields))
const queues = await openQueues({ ...JSON.parse(process.argv[2] ?? '{}'), log })
queues.work('images', {
  concurrency: 4,
  log,
  run(id) {
    say({ began: id })
    return new Promise(() => {})
  },
})
say({ ready: true })
