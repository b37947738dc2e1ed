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
    says: 'The gateway failed to handle this request. Its operator can find the cause by the request id.',
    client: 'report the request id to the operator',
    operator:
      'This is a bug in Tollgate. The log has the cause, at level 50, under the id of the request: please report it.',
  },
  process_ended: {
    kind: 'internal',
    says: 'The gateway process ended before this request did.',
    client: 'send the request again; its cost is unknown, and nothing was charged',
    operator: 'A process died while it was serving requests. Its log, or that of the system, says why.',
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
    operator:
      'A load balancer still sends requests to a process that is shutting down: have it check GET /readyz.',
  },
  images_made_while_draining: {
    kind: 'unavailable',
    says: ({ id }: { id: string }) =>
      `This gateway process is shutting down; the images will still be made. GET /v1/images/generations/${id} has them.`,
    client: 'ask for the job that the message names',
    operator: 'Nothing needs to be done: a worker makes the images.',
  },
  socket_closing: {
    kind: 'unavailable',
    says: 'This connection is closing. Open a new one.',
    client: 'open a new connection',
    operator: 'The process is shutting down: another one takes the next connection.',
  },
  body_thread_died: {
    kind: 'internal',
    says: 'The gateway failed to read this body. Try again, or send a smaller body.',
    client: 'try again, or send a smaller body',
    operator:
      'A thread for large bodies ended, usually because it ran out of memory. The log has its error; lower BODY_BYTES_MAX if it happens again.',
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
    says: 'This gateway process is shutting down, and the answer ends here. Try again.',
    client: 'try again',
    operator:
      'A process ended while answers were running. It waits for them for DRAIN_ON_SHUTDOWN_MS; its supervisor has to allow more than that.',
  },
  process_stalled: {
    kind: 'unavailable',
    says: 'This gateway process was frozen until another one recorded this request as lost. The answer ends here. Try again.',
    client: 'try again',
    operator:
      'The process, or its machine, was frozen for longer than INSTANCE_DEAD_MS: look for swapping, a paused virtual machine or a disk that hangs.',
  },
  database_pool_full: {
    kind: 'unavailable',
    says: ({ message }: Words) => message,
    client: 'try again after `retry-after`',
    operator:
      'A query got no connection to Postgres in time. If there is `database_away` too, Postgres is the cause; if not, the process has too few connections for its load.',
  },
  recording_late: {
    kind: 'unavailable',
    says: 'The gateway cannot record requests at the moment: its database does not answer. Try again later.',
    client: 'try again after `retry-after`',
    operator: 'Postgres did not confirm the start of a request within ADMIT_MS: see `database_away`.',
  },
  journal_full: {
    kind: 'unavailable',
    says: 'The gateway cannot record more requests: its database is away, and its local storage for them is full. Try again later.',
    client: 'try again after `retry-after`',
    operator:
      'The journal has reached JOURNAL_BYTES_MAX. Bring Postgres back, or raise the bound if the disk has room.',
  },
  journal_disk_failed: {
    kind: 'unavailable',
    says: 'The gateway cannot record requests: its disk is full or failing. Try again later.',
    client: 'try again after `retry-after`',
    operator:
      'The disk of DATA_DIR cannot be written: free space on it, or replace it. The log has the cause.',
  },
  usage_log_late: {
    kind: 'unavailable',
    says: ({ withinMs }: { withinMs: number }) =>
      `The usage log did not answer within ${withinMs} ms. Ask for a shorter time or more filters, or try again.`,
    client: 'ask for a shorter time or more filters',
    operator: 'Postgres is too slow even for a second of the log: see docs/reference/sizing.md.',
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
      `The query would read ${bytes} bytes of the archive, more than one query may. Ask for fewer days.`,
    client: 'ask for fewer days',
    operator: 'A query may read half of ARCHIVE_CACHE_BYTES: raise it if the disk has room.',
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
    says: 'These days are in the archive, which this gateway cannot read: DuckDB is not installed. Newer days can be read.',
    client: 'ask for newer days',
    operator: 'Install the DuckDB package for this platform: docs/reference/archive.md.',
  },
  archive_changing: {
    kind: 'unavailable',
    says: 'Days are being archived at the moment. Try again.',
    client: 'try again after `retry-after`',
    operator: 'If it lasts, the log says what the archiver is doing.',
  },
  image_result_unrecorded: {
    kind: 'internal',
    says: 'The images were made, but their result could not be recorded.',
    client: 'send the request again',
    operator:
      'Postgres refused the result of an image job that the vendor charged for: the log has the cause.',
  },
  workers_lost: {
    kind: 'internal',
    says: ({ what, runs }: { what: 'image' | 'answer'; runs: number }) =>
      `The ${what} could not be made: the workers that tried ended ${runs} times. Send the request again.`,
    client: 'send the request again',
    operator:
      'Workers ended while making it, IMAGE_RUNS_MAX or BACKGROUND_RUNS_MAX times: look for crashes, and for processes killed for their memory.',
  },
  worker_stopped: {
    kind: 'unavailable',
    code: 'worker_lost',
    says: 'The worker that was making this was stopped. Send the request again.',
    client: 'send the request again',
    operator: 'A worker was stopped while making a background answer. It goes on for DRAIN_ON_SHUTDOWN_MS.',
  },
  worker_lost: {
    kind: 'internal',
    code: 'worker_lost',
    says: 'The worker that was making this answer ended before it was complete. Send the request again.',
    client: 'send the request again',
    operator: 'A worker crashed or was killed while making a background answer.',
  },
  answer_events_too_large: {
    kind: 'upstream_error',
    says: 'This answer is longer than the gateway can store. Ask for a shorter one, or not in the background.',
    client: 'ask for a shorter answer, or not in the background',
    operator: 'Raise BACKGROUND_EVENT_BYTES_MAX if answers may be this long.',
  },
  answer_sealed_elsewhere: {
    kind: 'internal',
    says: 'The gateway cannot decrypt this request: it was stored with another SECRET_KEY. Send it again.',
    client: 'send the request again',
    operator:
      'Give the workers the same SECRET_KEY and SECRET_KEY_PREVIOUS as the processes that accept requests.',
  },
})
