import { reasonsOf } from './entry.ts'

/** What cannot be done without the part that is away. */
interface Words {
  message: string
}

interface Verb {
  how: 'stored' | 'read'
}

/** Parts of the gateway that are away, end or fail. */
export const serviceReasons = reasonsOf({
  internal_fault: {
    kind: 'internal',
    says: 'The gateway failed to handle this request. Its operators can find the cause by the request id.',
    client: 'report the request id to the operator',
    operator: 'The log has the cause, under the id of the request. Please report it as a fault of Tollgate.',
  },
  process_ended: {
    kind: 'internal',
    says: 'The gateway process ended before this request did.',
    client: 'repeat the request; its cost is unknown, and nothing was charged',
    operator: 'A process died while it served requests. Its log, or that of the system, says why.',
  },
  database_away: {
    kind: 'unavailable',
    says: ({ message }: { message: string }) => message,
    client: 'try again after `retry-after`',
    operator: 'Postgres does not answer, or not in time: see GET /readyz, and Postgres itself.',
  },
  refused_while_draining: {
    kind: 'unavailable',
    says: 'This gateway process is shutting down. Try again: another one will answer.',
    client: 'try again: another process answers',
    operator: 'A balancer still sends requests to a process that ends: have it heed GET /readyz.',
  },
  images_made_while_draining: {
    kind: 'unavailable',
    says: ({ id }: { id: string }) =>
      `This gateway process is shutting down; the images will still be made. GET /v1/images/generations/${id} has them.`,
    client: 'ask for the job that the message names',
  },
  socket_closing: {
    kind: 'unavailable',
    says: 'This connection closes. Open a new one.',
    client: 'open a new connection',
  },
  body_thread_died: {
    kind: 'internal',
    says: 'The thread that worked on this body has ended. Try again, or send a smaller body.',
    client: 'try again, or send a smaller body',
    operator:
      'A thread for large bodies ended by itself, mostly for want of memory. The log has its error; lower BODY_BYTES_MAX if it happens again.',
  },
  image_storage_away: {
    kind: 'unavailable',
    says: ({ how }: Verb) => `Images cannot be ${how} at the moment. Try again later.`,
    client: 'try again after `retry-after`',
    operator: 'The storage of images does not answer: `tollgate doctor` tries it, and the log has the cause.',
  },
  file_storage_away: {
    kind: 'unavailable',
    says: ({ how }: Verb) => `The file cannot be ${how} at the moment. Try again later.`,
    client: 'try again after `retry-after`',
    operator:
      'The storage of files does not answer or has lost the file: `tollgate doctor` tries it, and the log has the cause.',
  },
  draining: {
    kind: 'unavailable',
    says: 'This gateway process is shutting down; the answer is cut here. Try again.',
    client: 'try again',
    operator:
      'A process ended with answers still running: DRAIN_MS is how long it waits for them, and the time that the supervisor allows has to be longer.',
  },
  process_stalled: {
    kind: 'unavailable',
    says: 'This gateway process was frozen until another one recorded this request as lost. The answer is cut here. Try again.',
    client: 'try again',
    operator:
      'The process, or its machine, stopped for longer than its claim lasts: look for swapping, a paused virtual machine or a disk that hangs.',
  },
  database_pool_full: {
    kind: 'unavailable',
    says: ({ message }: Words) => message,
    client: 'try again after `retry-after`',
    operator:
      'A query waited in vain for a free connection to Postgres. With `database_away`, Postgres is the cause; without it, the process has too few connections for its load.',
  },
  recording_late: {
    kind: 'unavailable',
    says: 'The gateway cannot record requests at the moment: its database does not answer. Try again later.',
    client: 'try again after `retry-after`',
    operator: 'Postgres did not confirm the beginning of a request within ADMIT_MS: see `database_away`.',
  },
  journal_full: {
    kind: 'unavailable',
    says: 'The gateway cannot record more requests: its journal has reached its bound while the database is away. Try again later.',
    client: 'try again after `retry-after`',
    operator:
      'The journal holds JOURNAL_BYTES_MAX. Bring Postgres back, or raise the bound where the disk has room.',
  },
  journal_disk_failed: {
    kind: 'unavailable',
    says: 'The gateway cannot record requests: its disk is full or fails. Try again later.',
    client: 'try again after `retry-after`',
    operator: 'The disk of DATA_DIR takes no writes: free space on it, or replace it. The log has the cause.',
  },
  usage_log_late: {
    kind: 'unavailable',
    says: ({ withinMs }: { withinMs: number }) =>
      `The usage log did not answer within ${withinMs} ms. Ask for a shorter time or more filters, or try again.`,
    client: 'ask for a shorter time or more filters',
    operator: 'Postgres is too slow for even a second of the log: see docs/reference/sizing.md.',
  },
  archive_late: {
    kind: 'unavailable',
    says: ({ withinMs }: { withinMs: number }) =>
      `The archive of older days did not answer within ${withinMs} ms. Ask for fewer days or more filters, or try again.`,
    client: 'ask for fewer days or more filters',
    operator: 'Raise ARCHIVE_READ_MS if the storage of the archive is slow.',
  },
  archive_query_large: {
    kind: 'unavailable',
    says: ({ bytes }: { bytes: number }) =>
      `The query would read ${bytes} bytes of the archive, which is more than one may. Ask for fewer days.`,
    client: 'ask for fewer days',
  },
  archive_away: {
    kind: 'unavailable',
    says: 'The archive of older days cannot be read at the moment. Nothing is lost: try again.',
    client: 'try again after `retry-after`',
    operator:
      'The storage of the archive, or the process that reads it, fails: the log has the cause (docs/reference/archive.md).',
  },
  archive_without_duckdb: {
    kind: 'unavailable',
    says: 'These days are in the archive, which this gateway cannot read: its DuckDB is not installed. Newer days can be read.',
    client: 'ask for newer days',
    operator: 'Install the package of DuckDB for this platform: docs/reference/archive.md.',
  },
  archive_changing: {
    kind: 'unavailable',
    says: 'Days are being archived at the moment. Try again.',
    client: 'try again after `retry-after`',
  },
  image_result_unrecorded: {
    kind: 'internal',
    says: 'The images were made, but their result could not be recorded.',
    client: 'make the images again',
    operator: 'Postgres refused the end of an image job that was paid for: the log has the cause.',
  },
  workers_lost: {
    kind: 'internal',
    says: ({ what, runs }: { what: 'image' | 'answer'; runs: number }) =>
      `The ${what} could not be made: the workers that tried it ended ${runs} times.`,
    client: 'send the request again',
    operator:
      'Workers end while they make it, IMAGE_RUNS_MAX or BACKGROUND_RUNS_MAX times: look for crashes and for kills by the machine for memory.',
  },
  worker_stopped: {
    kind: 'unavailable',
    code: 'worker_lost',
    says: 'The worker that was making this was stopped.',
    client: 'send the request again',
    operator:
      'A worker was stopped in the middle of an answer in the background: DRAIN_ON_SHUTDOWN_MS is how long it goes on.',
  },
  worker_lost: {
    kind: 'internal',
    code: 'worker_lost',
    says: 'The worker that was making this answer ended before it was whole.',
    client: 'send the request again',
    operator: 'A worker crashed or was killed in the middle of an answer in the background.',
  },
  answer_events_too_large: {
    kind: 'upstream_error',
    says: 'The events of this answer take more bytes than are kept of one answer.',
    client: 'ask for a shorter answer, or not in the background',
    operator: 'Raise BACKGROUND_EVENT_BYTES_MAX if answers may be this long.',
  },
  answer_sealed_elsewhere: {
    kind: 'internal',
    says: 'This answer was sealed with another SECRET_KEY.',
    client: 'send the request again',
    operator: 'Give the worker the same SECRET_KEY and former keys as the processes that accept requests.',
  },
})
