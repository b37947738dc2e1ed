import { counted } from '../counted.ts'
import { reasonsOf } from './entry.ts'

/** Names what cannot be done while a part of the gateway is unavailable. */
interface Words {
  message: string
}

interface Verb {
  how: 'stored' | 'read'
}

/** Failures of the gateway's own parts: unavailable, shutting down or crashed. */
export const serviceReasons = reasonsOf({
  internal_fault: {
    kind: 'internal',
    says: 'The gateway failed to handle this request because of an internal error. Report the request id to its operator.',
    client: 'report the request id to the operator',
    operator:
      'This is a bug in Tollgate. The log contains the cause at level 50, with the id of the request. Please report it.',
  },
  process_ended: {
    kind: 'internal',
    says: 'The gateway process ended before this request was complete.',
    client: 'send the request again; its cost is unknown, and nothing was charged',
    operator: 'A process died while it was serving requests. Check its log or the system log for the cause.',
  },
  database_away: {
    kind: 'unavailable',
    says: ({ message }: { message: string }) => message,
    client: 'try again after `retry-after`',
    operator: 'Postgres does not respond, or not in time. Check GET /readyz and Postgres itself.',
  },
  refused_while_draining: {
    kind: 'unavailable',
    says: 'This gateway process is shutting down. Try again: another process will handle the request.',
    client: 'try again: another process will handle the request',
    operator:
      'A load balancer still sends requests to a process that is shutting down. Configure it to check GET /readyz.',
  },
  images_made_while_draining: {
    kind: 'unavailable',
    says: ({ id }: { id: string }) =>
      `This gateway process is shutting down, but the images will still be generated. Fetch them with GET /v1/images/generations/${id}.`,
    client: 'fetch the job that the message names',
    operator: 'No action is needed: a worker generates the images.',
  },
  socket_closing: {
    kind: 'unavailable',
    says: 'This connection is closing. Open a new one.',
    client: 'open a new connection',
    operator: 'The process is shutting down. Another process will accept the next connection.',
  },
  body_thread_died: {
    kind: 'internal',
    says: 'The gateway failed to read the request body. Try again, or send a smaller body.',
    client: 'try again, or send a smaller body',
    operator:
      'A thread for large bodies ended, usually because it ran out of memory. The log contains its error. Lower BODY_BYTES_MAX if it happens again.',
  },
  image_storage_away: {
    kind: 'unavailable',
    says: ({ how }: Verb) => `Images cannot be ${how} at the moment. Try again later.`,
    client: 'try again after `retry-after`',
    operator:
      'The image storage does not respond. `tollgate doctor` tests it, and the log contains the cause.',
  },
  file_storage_away: {
    kind: 'unavailable',
    says: ({ how }: Verb) => `The file cannot be ${how} at the moment. Try again later.`,
    client: 'try again after `retry-after`',
    operator:
      'The file storage does not respond or has lost the file. `tollgate doctor` tests it, and the log contains the cause.',
  },
  draining: {
    kind: 'unavailable',
    says: 'This gateway process is shutting down, so the answer is incomplete. Try again.',
    client: 'try again',
    operator:
      'A process ended while answers were still running. It waits up to DRAIN_ON_SHUTDOWN_MS for them, and its supervisor must allow more time than that.',
  },
  process_stalled: {
    kind: 'unavailable',
    says: 'This gateway process was frozen for so long that another process recorded this request as lost. The answer is incomplete. Try again.',
    client: 'try again',
    operator:
      'The process or its machine was frozen for longer than INSTANCE_DEAD_MS. Check for swapping, a paused virtual machine or a hanging disk.',
  },
  database_pool_full: {
    kind: 'unavailable',
    says: ({ message }: Words) => message,
    client: 'try again after `retry-after`',
    operator:
      'A query did not get a Postgres connection in time. If `database_away` occurs too, Postgres is the cause. If not, the process has too few connections for its load.',
  },
  recording_late: {
    kind: 'unavailable',
    says: 'The gateway cannot record requests at the moment because its database is not responding. Try again later.',
    client: 'try again after `retry-after`',
    operator: 'Postgres did not confirm the start of a request within ADMIT_MS: see `database_away`.',
  },
  journal_full: {
    kind: 'unavailable',
    says: 'The gateway cannot record more requests because its database is unavailable and its local storage for them is full. Try again later.',
    client: 'try again after `retry-after`',
    operator:
      'The journal has reached JOURNAL_BYTES_MAX. Restore Postgres, or raise the limit if the disk has space.',
  },
  journal_disk_failed: {
    kind: 'unavailable',
    says: 'The gateway cannot record requests because its disk is full or failing. Try again later.',
    client: 'try again after `retry-after`',
    operator:
      'The disk of DATA_DIR cannot be written. Free space on it, or replace it. The log contains the cause.',
  },
  usage_log_late: {
    kind: 'unavailable',
    says: ({ withinMs }: { withinMs: number }) =>
      `The usage log query did not finish within ${withinMs} ms. Query a shorter period, add filters, or try again.`,
    client: 'query a shorter period, or add filters',
    operator: 'Postgres is too slow even for one second of the log. See docs/reference/sizing.md.',
  },
  archive_late: {
    kind: 'unavailable',
    says: ({ withinMs }: { withinMs: number }) =>
      `The query of the archive of older days did not finish within ${withinMs} ms. Query fewer days, add filters, or try again.`,
    client: 'query fewer days, or add filters',
    operator: 'Raise ARCHIVE_READ_MS if the storage of the archive is slow.',
  },
  archive_query_large: {
    kind: 'unavailable',
    says: ({ bytes }: { bytes: number }) =>
      `The query would read ${bytes} bytes of the archive, which is more than the limit for one query. Query fewer days.`,
    client: 'query fewer days',
    operator: 'A query can read up to half of ARCHIVE_CACHE_BYTES. Raise it if the disk has space.',
  },
  archive_away: {
    kind: 'unavailable',
    says: 'The archive of older days cannot be read at the moment. No data is lost. Try again.',
    client: 'try again after `retry-after`',
    operator:
      'The archive storage, or the process that reads it, is failing. The log contains the cause. See docs/reference/archive.md.',
  },
  archive_without_duckdb: {
    kind: 'unavailable',
    says: 'These days are in the archive, which this gateway cannot read because DuckDB is not installed. Newer days can be read.',
    client: 'query newer days',
    operator: 'Install the DuckDB package for this platform. See docs/reference/archive.md.',
  },
  archive_changing: {
    kind: 'unavailable',
    says: 'Some of the days in this query are being archived at the moment. Try again.',
    client: 'try again after `retry-after`',
    operator: 'If this persists, the log shows what the archiver is doing.',
  },
  image_result_unrecorded: {
    kind: 'internal',
    says: 'The images were generated, but the result could not be recorded. Send the request again.',
    client: 'send the request again',
    operator:
      'Postgres rejected the result of an image job that the vendor charged for. The log contains the cause.',
  },
  workers_lost: {
    kind: 'internal',
    says: ({ what, runs }: { what: 'image' | 'answer'; runs: number }) =>
      `The ${what} could not be completed: the worker processing it stopped ${counted(runs, 'time')}. Send the request again.`,
    client: 'send the request again',
    operator:
      'Workers ended while working on it, IMAGE_RUNS_MAX or BACKGROUND_RUNS_MAX times. Look for crashes and for processes killed because of their memory use.',
  },
  worker_stopped: {
    kind: 'unavailable',
    code: 'worker_lost',
    says: 'The worker was stopped before the answer was complete. Send the request again.',
    client: 'send the request again',
    operator:
      'A worker was stopped while it was producing a background answer. After the signal to stop, it continues for up to DRAIN_ON_SHUTDOWN_MS.',
  },
  worker_lost: {
    kind: 'internal',
    code: 'worker_lost',
    says: 'The worker ended unexpectedly before the answer was complete. Send the request again.',
    client: 'send the request again',
    operator: 'A worker crashed or was killed while it was producing a background answer.',
  },
  answer_events_too_large: {
    kind: 'upstream_error',
    says: 'This answer is longer than the gateway can store. Request a shorter answer, or do not use background mode.',
    client: 'request a shorter answer, or do not use background mode',
    operator: 'Raise BACKGROUND_EVENT_BYTES_MAX to allow answers of this length.',
  },
  answer_sealed_elsewhere: {
    kind: 'internal',
    says: 'The gateway cannot decrypt this request because it was stored with a different SECRET_KEY. Send it again.',
    client: 'send the request again',
    operator:
      'Configure the workers with the same SECRET_KEY and SECRET_KEY_PREVIOUS as the processes that accept requests.',
  },
})
