import { counted } from '../counted.ts'
import { reasonsOf } from './entry.ts'

/** Refusals because of rates, money, memory or full queues. */
export const limitReasons = reasonsOf({
  request_rate_reached: {
    kind: 'rate_limited',
    says: ({ who, allowed }: Allowed) =>
      `${who} reached the limit of ${counted(allowed, 'request')} per minute. Wait for the time given in the retry-after header.`,
    client: 'wait for the time given in `retry-after`',
    operator:
      'Raise `requests_per_minute` of the key, group or tenant that the message names. While GET /readyz reports `limits` as `local`, Redis is unavailable, and each process allows only its share of the limit.',
  },
  token_rate_reached: {
    kind: 'rate_limited',
    says: ({ who, allowed }: Allowed) =>
      `${who} reached the limit of ${counted(allowed, 'token')} per minute. Wait for the time given in the retry-after header, or send less.`,
    client: 'wait for the time given in `retry-after`, or send less',
    operator:
      'Raise `tokens_per_minute` of the key, group or tenant that the message names. If Redis is unavailable, see `request_rate_reached`.',
  },
  concurrency_reached: {
    kind: 'rate_limited',
    says: ({ who, allowed }: Allowed) =>
      `${who} ${counted(allowed, 'request')} running, which is the limit. Wait for one of them to finish.`,
    client: 'wait for a running request to finish',
    operator:
      'Raise `concurrency` of the key, group or tenant that the message names. If Redis is unavailable, see `request_rate_reached`.',
  },
  key_requests_full: {
    kind: 'rate_limited',
    says: ({ most }: { most: number }) =>
      `This key has ${counted(most, 'request')} running in this gateway process, which is the limit for one key. Wait for one of them to finish.`,
    client: 'wait for a running request to finish',
    operator: 'Raise KEY_IN_FLIGHT_MAX, or spread the load over more processes.',
  },
  process_full: {
    kind: 'unavailable',
    says: ({ most }: { most: number }) =>
      `This gateway process is running ${counted(most, 'request')}, which is its limit. Try again.`,
    client: 'try again after `retry-after`',
    operator: 'Add processes or machines, or raise IN_FLIGHT_MAX if the machine has enough memory.',
  },
  key_body_queue_full: {
    kind: 'rate_limited',
    says: ({ waitingMax }: { waitingMax: number }) =>
      `${waitingMax} large request bodies of this key are waiting to be read by this gateway process, which is the limit for one key. Try again.`,
    client: 'try again after `retry-after`, with fewer large bodies at once',
    operator:
      'One key sends many large bodies at once. Raise BODY_THREADS if the machine has idle cores, or raise BODY_THREAD_WAITING_MAX.',
  },
  body_queue_full: {
    kind: 'unavailable',
    says: ({ waitingMax }: { waitingMax: number }) =>
      `${waitingMax} large request bodies are waiting to be read by this gateway process, which is the limit. Try again.`,
    client: 'try again after `retry-after`',
    operator:
      'Raise BODY_THREADS if the machine has idle cores, raise BODY_THREAD_WAITING_MAX, or add processes.',
  },
  channels_full: {
    kind: 'unavailable',
    says: 'The upstreams of this model are already running as many requests as this gateway process allows. Try again.',
    client: 'try again after `retry-after`',
    operator:
      'The upstreams are slow, or the load is too high. If they are healthy, raise `concurrency` of the channels, or add channels or processes.',
  },
  money_held: {
    kind: 'rate_limited',
    says: ({ cost, free, of, why }: { cost: string; free: string; of: string; why: string }) =>
      `This request could cost up to $${cost}, but only $${free} of ${of} is available at the moment, because running requests have reserved some of it. Try again when some of them have finished.${why}`,
    client: 'try again when running requests have finished, or limit the length of the answer',
    operator:
      'A running request reserves the maximum that it can cost. Raise the budget or the balance, or raise BUDGET_WAIT_MS, the time that a request waits for money. If clients limit the length of answers (`max_completion_tokens`), more requests can run at once.',
  },
  credit_used_up: {
    kind: 'insufficient_credit',
    says: ({ cost, left, of, ways, why }: Left) =>
      `This request could cost up to $${cost}, but only $${left} is left of ${of}. ${ways}${why}`,
    client: 'add credit, or make the request cheaper as described in the message',
    operator:
      'Book a top-up with `tollgate topup`. If far more is left than such a request usually costs, see `budget_used_up`.',
  },
  budget_used_up: {
    kind: 'insufficient_credit',
    says: ({ cost, left, of, resets, ways, why }: Left & { resets: string }) =>
      `This request could cost up to $${cost}, but only $${left} is left of ${of}, which ${resets}. ${ways}${why}`,
    client:
      'wait for the reset, make the request cheaper as described in the message, or have the budget raised',
    operator:
      "Raise the budget of the key, group or tenant that the message names. If far more is left than such a request usually costs, have the client limit the length of the answer (`max_completion_tokens`): otherwise the model's full `max_output_tokens` counts. If the message mentions input that the vendor may add, see docs/reference/limits.md.",
  },
  cost_not_bounded: {
    kind: 'permission_denied',
    says: ({ model, why }: { model: string; why: string }) =>
      `This key has a spending limit, and a request to model "${model}" has no upper bound on its cost: ${why}`,
    client: 'limit the length of the answer as described in the message, or use another model',
    operator: "Set the model's price, `context_length` or `max_output_tokens`, whichever the message names.",
  },
  background_cost_unseen: {
    kind: 'permission_denied',
    says: ({ field }: { field: string }) =>
      `${field}: this key has a spending limit, and this gateway cannot determine the cost of an answer that the vendor produces in the background. Leave "${field}" out.`,
    client: 'leave the parameter out',
  },
  background_queue_full: {
    kind: 'rate_limited',
    says: ({ waitingMax }: { waitingMax: number }) =>
      `${counted(waitingMax, 'background answer')} of this tenant ${waitingMax === 1 ? 'is' : 'are'} waiting, which is the limit. Try again when some of them have been completed.`,
    client: 'try again after `retry-after`',
    operator: 'Raise BACKGROUND_CONCURRENCY or BACKGROUND_WAITING_MAX, or add workers.',
  },
  image_queue_full: {
    kind: 'rate_limited',
    says: ({ waitingMax }: { waitingMax: number }) =>
      `${counted(waitingMax, 'image generation')} of this tenant ${waitingMax === 1 ? 'is' : 'are'} waiting, which is the limit. Try again when some of them have been completed.`,
    client: 'try again after `retry-after`',
    operator: 'Raise IMAGE_WAITING_MAX, or add workers.',
  },
  sockets_full: {
    kind: 'unavailable',
    says: ({ most }: { most: number }) =>
      `This gateway process has ${most} WebSockets open, which is its limit. Try again, or send the request with POST.`,
    client: 'try again, or send the request with POST',
    operator: 'Raise SOCKETS_MAX, or add processes.',
  },
  key_sockets_full: {
    kind: 'rate_limited',
    says: ({ most }: { most: number }) =>
      `This key has ${most} WebSockets open in this gateway process, which is the limit for one key. Close one of them.`,
    client: 'close a connection',
    operator: 'Raise KEY_SOCKETS_MAX.',
  },
  storage_full: {
    kind: 'rate_limited',
    code: 'storage_full',
    says: ({ path, bytesMax }: { path: string; bytesMax: number }) =>
      `${path}: this request would exceed the ${bytesMax} bytes that this tenant can store in answers, conversations, files, waiting background requests and answers for retries. Delete some of them, or send the request in a way that stores nothing.`,
    client: 'delete some stored data, or send the request in a way that stores nothing',
    operator: 'Raise KEPT_TENANT_BYTES_MAX, or store answers and files for fewer days.',
  },
  conversations_full: {
    kind: 'invalid_request',
    code: 'conversations_full',
    says: ({ most }: { most: number }) =>
      `This tenant has ${counted(most, 'conversation')}, which is the limit. Delete some of them with DELETE /v1/conversations/{id}.`,
    client: 'delete some conversations',
    operator: 'Raise CONVERSATIONS_MAX.',
  },
  files_full: {
    kind: 'invalid_request',
    says: ({ most }: { most: number }) =>
      `This tenant has ${counted(most, 'file')}, which is the limit. Delete some of them with DELETE /v1/files/{id}.`,
    client: 'delete some files',
    operator: 'Raise FILES_PER_TENANT_MAX.',
  },
  file_bytes_full: {
    kind: 'request_too_large',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `With this file, the files of this tenant would exceed their total limit of ${bytesMax} bytes. Delete some of them with DELETE /v1/files/{id}.`,
    client: 'delete some files',
    operator: 'Raise FILES_BYTES_PER_TENANT.',
  },
  body_memory_full: {
    kind: 'unavailable',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `The bodies of running requests use all ${bytesMax} bytes that this gateway process reserves for them. Try again.`,
    client: 'try again after `retry-after`',
    operator:
      'The bodies of running requests have reached BODIES_BYTES_MAX. Raise it if the machine has enough memory, or add a process. If clients send slowly, lower REQUEST_READ_MS.',
  },
  decoded_body_memory_full: {
    kind: 'unavailable',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `The decoded bodies of running requests use all ${bytesMax} bytes that this gateway process reserves for them. Try again, or send the body unencoded.`,
    client: 'try again after `retry-after`, or send the body unencoded',
    operator:
      'The decoded bodies of requests with a content-encoding have reached DECODED_BYTES_MAX. Raise it if the machine has enough memory.',
  },
  key_body_memory_full: {
    kind: 'rate_limited',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `The bodies of this key's running requests take up ${bytesMax} bytes in this gateway process, which is the limit for one key. Wait for one of the requests to finish.`,
    client: 'wait for a running request to finish',
    operator:
      'The key sends large bodies, or sends them slowly. Raise KEY_BODIES_BYTES_MAX if a single key may use more memory of the process.',
  },
  tenant_queries_full: {
    kind: 'rate_limited',
    says: ({ atOnce, waitingMax }: { atOnce: number; waitingMax: number }) =>
      `${atOnce} queries of this tenant are running in this gateway process and ${waitingMax} are waiting, which is the limit. Wait for one of them to finish.`,
    client: 'wait for a query to finish',
    operator:
      'One tenant or admin queries the usage log faster than Postgres can answer. Have them query shorter periods, one at a time.',
  },
  archive_queries_full: {
    kind: 'rate_limited',
    says: ({ waitingMax }: { waitingMax: number }) =>
      `${waitingMax} queries for older days are waiting in this gateway process, which is the limit. Wait for one of them to finish.`,
    client: 'wait for a query to finish',
    operator:
      'The archive answers one query at a time: docs/reference/archive.md explains how much a query reads.',
  },
  exports_full: {
    kind: 'rate_limited',
    says: ({ most }: { most: number }) =>
      `${most} exports are running in this gateway process, which is the limit. Wait for one of them to finish.`,
    client: 'try again when another export has finished',
    operator:
      'The exports of all callers together have reached EXPORTS_MAX. Raise it if Postgres has spare capacity.',
  },
  own_exports_full: {
    kind: 'rate_limited',
    says: ({ most }: { most: number }) =>
      `${most} of your exports are running in this gateway process, which is the limit. Wait for one of them to finish.`,
    client: 'wait for one of your exports to finish',
    operator: 'A single caller can run up to half of EXPORTS_MAX at once.',
  },
  tails_full: {
    kind: 'rate_limited',
    says: ({ most }: { most: number }) =>
      `This gateway process is serving ${most} tails of the request log, which is the limit. Try again.`,
    client: 'close a tail, or try again after `retry-after`',
  },
  sub_key_changes_full: {
    kind: 'rate_limited',
    says: ({ waitingMax }: { waitingMax: number }) =>
      `${waitingMax} changes to this tenant's sub-keys are waiting in this gateway process, which is the limit. Wait for one of them to finish.`,
    client: 'wait for a change to finish',
  },
  sub_key_changes_slow: {
    kind: 'unavailable',
    says: 'Changes to sub-keys are slow at the moment. Nothing was changed. Try again.',
    client: 'try again after `retry-after`',
    operator:
      'Changes to sub-keys wait for one of the ADMIN_CONNECTIONS: Postgres is slow, or many tenants are changing keys.',
  },
})

/** `who` ends in "has" or "have". */
interface Allowed {
  who: string
  allowed: number
}

/**
 * Amounts in US dollars. `ways`: sentences about what the client can do; `why`: why the request can cost so
 * much.
 */
interface Left {
  cost: string
  left: string
  of: string
  ways: string
  why: string
}
