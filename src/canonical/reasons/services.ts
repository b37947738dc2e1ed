import { reasonsOf } from './entry.ts'

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
    says: 'Images cannot be stored at the moment. Try again later.',
    client: 'try again later',
    operator: 'The storage of images takes no writes: `tollgate doctor` tries it, and the log has the cause.',
  },
  images_unreadable: {
    kind: 'unavailable',
    says: 'The images cannot be read at the moment. Try again shortly.',
    client: 'try again after `retry-after`',
    operator: 'The storage of images does not answer: `tollgate doctor` tries it, and the log has the cause.',
  },
  file_storage_away: {
    kind: 'unavailable',
    says: 'The file cannot be stored at the moment. Try again later.',
    client: 'try again later',
    operator: 'The storage of files takes no writes: `tollgate doctor` tries it, and the log has the cause.',
  },
  file_unreadable: {
    kind: 'unavailable',
    says: 'The file cannot be read at the moment. Try again.',
    client: 'try again after `retry-after`',
    operator:
      'The storage of files does not answer or has lost the file: `tollgate doctor` tries it, and the log has the cause.',
  },
})
