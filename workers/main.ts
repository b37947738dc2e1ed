import type { Context } from '../src/process/context.ts'
import { Opened } from '../src/runtime/opened.ts'
import { archiveLog } from './archive-log.ts'
import { alertRunner } from './deliver-alert.ts'
import { webhookRunner } from './deliver-job-webhook.ts'
import { eraseContent } from './erase-content.ts'
import { imageRunner } from './generate-image.ts'
import { keepAlerts } from './keep-alerts.ts'
import { keepFiles } from './keep-files.ts'
import { keepJobs } from './keep-jobs.ts'
import { keepProbes } from './keep-probes.ts'
import { answerRunner } from './make-answer.ts'
import { probeRunner } from './probe-offer.ts'
import { renewPrices } from './renew-prices.ts'

/** A probe makes many calls to a channel and is never urgent. */
const probesAtOnce = 1

/** A delivery is short and mostly waits for the client, so many can run at once. */
const webhooksAtOnce = 16

/**
 * Runs the jobs of all queues in this process. `close` waits for running jobs to end, or puts them back if
 * they take longer than `drainMs`.
 */
export async function startWorkers(context: Context): Promise<{ close(drainMs: number): Promise<void> }> {
  const { bounds, log } = context
  const queues = await context.queues()
  const images = imageRunner(context)
  const answers = answerRunner(context)
  const probes = probeRunner(context)
  const workers = [
    queues.work('images', { concurrency: bounds.imageConcurrency, run: images.run, log }),
    queues.work('answers', { concurrency: bounds.backgroundConcurrency, run: answers.run, log }),
    queues.work('webhooks', {
      concurrency: webhooksAtOnce,
      run: webhookRunner(context, { allowPrivateAddresses: context.privateWebhooks }),
      log,
    }),
    queues.work('alerts', { concurrency: webhooksAtOnce, run: alertRunner(context), log }),
    queues.work('probes', { concurrency: probesAtOnce, run: probes.run, log }),
  ]
  const keeping = [
    keepJobs(context, queues.webhooks),
    keepFiles(context),
    keepProbes(context, queues.probes),
    keepAlerts(context, queues.alerts),
    renewPrices(context),
    eraseContent(context),
    archiveLog(context),
  ]
  log.info({ queue: queues.backend, images: bounds.imageConcurrency }, 'workers are running')
  return {
    async close(drainMs) {
      const timeout = setTimeout(() => {
        images.stop()
        answers.stop()
      }, drainMs)
      // A probe takes minutes, and nothing waits for it.
      probes.stop()
      const opened = new Opened(log)
      opened.add('the deadline of running jobs', () => clearTimeout(timeout))
      opened.add(
        'workers',
        ...keeping.map((each) => () => each.stop()),
        ...workers.map((worker) => () => worker.close()),
      )
      await opened.close()
    },
  }
}
