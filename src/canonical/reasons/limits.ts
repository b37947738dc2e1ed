import { counted } from '../counted.ts'
import { reasonsOf } from './entry.ts'

/** Rates, money, memory and waiting lines. */
export const limitReasons = reasonsOf({
  request_rate_reached: {
    kind: 'rate_limited',
    says: ({ who, allowed }: Allowed) =>
      `${who} used up the ${counted(allowed, 'request')} per minute that ${allowed === 1 ? 'is' : 'are'} allowed. Wait as long as retry-after says.`,
    client: 'wait as long as `retry-after` says',
    operator:
      'Raise `requests_per_minute` of the key, group or tenant that the message names. While GET /readyz says `limits` `local`, Redis is away, and each process allows only its part.',
  },
  token_rate_reached: {
    kind: 'rate_limited',
    says: ({ who, allowed }: Allowed) =>
      `${who} used up the ${counted(allowed, 'token')} per minute that ${allowed === 1 ? 'is' : 'are'} allowed. Wait as long as retry-after says, or send less.`,
    client: 'wait as long as `retry-after` says, or send less',
    operator:
      'Raise `tokens_per_minute` of the key, group or tenant that the message names. For Redis, see `request_rate_reached`.',
  },
  concurrency_reached: {
    kind: 'rate_limited',
    says: ({ who, allowed }: Allowed) =>
      `${who} ${counted(allowed, 'request')} running, which is the limit. Wait for one of them to end.`,
    client: 'wait for a running request to end',
    operator:
      'Raise `concurrency` of the key, group or tenant that the message names. For Redis, see `request_rate_reached`.',
  },
  key_requests_full: {
    kind: 'rate_limited',
    says: ({ most }: { most: number }) =>
      `This key has ${counted(most, 'request')} running in this gateway process, which is the limit for one key. Wait for one of them to end.`,
    client: 'wait for a running request to end',
    operator: 'Raise KEY_IN_FLIGHT_MAX, or spread the load over more processes.',
  },
  process_full: {
    kind: 'unavailable',
    says: ({ most }: { most: number }) =>
      `This gateway process is running ${counted(most, 'request')}, which is its limit. Try again.`,
    client: 'try again after `retry-after`',
    operator: 'Add processes or machines, or raise IN_FLIGHT_MAX if the machine has memory for more.',
  },
  key_body_queue_full: {
    kind: 'rate_limited',
    says: ({ waitingMax }: { waitingMax: number }) =>
      `${waitingMax} large bodies of this key are waiting to be read by this gateway process, which is the limit for one key. Try again.`,
    client: 'try again after `retry-after`, with fewer large bodies at once',
    operator:
      'One key sends many large bodies at once. Raise BODY_THREADS if the machine has idle cores, or BODY_THREAD_WAITING_MAX.',
  },
  body_queue_full: {
    kind: 'unavailable',
    says: ({ waitingMax }: { waitingMax: number }) =>
      `${waitingMax} large bodies are waiting to be read by this gateway process, which is the limit. Try again.`,
    client: 'try again after `retry-after`',
    operator:
      'Raise BODY_THREADS if the machine has idle cores, BODY_THREAD_WAITING_MAX, or the number of processes.',
  },
  channels_full: {
    kind: 'unavailable',
    says: 'The upstreams of this model are running as many requests as this gateway process allows them. Try again.',
    client: 'try again after `retry-after`',
    operator:
      'The upstreams are slow, or the load is too high. If they are healthy, raise `concurrency` of the channels, or add channels or processes.',
  },
  money_held: {
    kind: 'rate_limited',
    says: ({ cost, free, of, why }: { cost: string; free: string; of: string; why: string }) =>
      `This request could cost up to $${cost}, and $${free} of ${of} is free at the moment: the rest is reserved for running requests. Try again when some of them have ended.${why}`,
    client: 'try again when running requests have ended, or bound the answer',
    operator:
      'A running request reserves the most that it can cost. Raise the budget or the balance, or BUDGET_WAIT_MS, the time that a request waits for money. A bound on the answer (`max_completion_tokens`) lets more requests run at once.',
  },
  credit_used_up: {
    kind: 'insufficient_credit',
    says: ({ cost, left, of, ways, why }: Left) =>
      `This request could cost up to $${cost}, and $${left} is left of ${of}. ${ways}${why}`,
    client: 'add credit, or make the request cheaper as the message says',
    operator:
      'Book a top-up: `tollgate topup`. If much more is left than such a request costs, see `budget_used_up`.',
  },
  budget_used_up: {
    kind: 'insufficient_credit',
    says: ({ cost, left, of, resets, ways, why }: Left & { resets: string }) =>
      `This request could cost up to $${cost}, and $${left} is left of ${of}, which ${resets}. ${ways}${why}`,
    client: 'wait for the reset, make the request cheaper as the message says, or have the budget raised',
    operator:
      'Raise the budget of the key or group that the message names. If much more is left than such a request costs, have the client bound its answer (`max_completion_tokens`): otherwise all of `max_output_tokens` of the model counts. If the message speaks of input that the vendor may add, see docs/reference/limits.md.',
  },
  cost_not_bounded: {
    kind: 'permission_denied',
    says: ({ model, why }: { model: string; why: string }) =>
      `This key has a spending limit, and a request to model "${model}" has no upper bound on its cost: ${why}`,
    client: 'bound the answer as the message says, or use another model',
    operator: "Set what the message names: the model's price, `context_length` or `max_output_tokens`.",
  },
  background_cost_unseen: {
    kind: 'permission_denied',
    says: ({ field }: { field: string }) =>
      `${field}: this key has a spending limit, and this gateway cannot see the cost of an answer that the vendor makes in the background. Leave "${field}" out.`,
    client: 'leave the parameter out',
  },
  background_queue_full: {
    kind: 'rate_limited',
    says: ({ waitingMax }: { waitingMax: number }) =>
      `${counted(waitingMax, 'background answer')} of this tenant ${waitingMax === 1 ? 'is' : 'are'} waiting, which is the limit. Try again when some have been made.`,
    client: 'try again after `retry-after`',
    operator: 'Raise BACKGROUND_CONCURRENCY or the number of workers, or BACKGROUND_WAITING_MAX.',
  },
  image_queue_full: {
    kind: 'rate_limited',
    says: ({ waitingMax }: { waitingMax: number }) =>
      `${counted(waitingMax, 'image generation')} of this tenant ${waitingMax === 1 ? 'is' : 'are'} waiting, which is the limit. Try again when some have been made.`,
    client: 'try again after `retry-after`',
    operator: 'Raise IMAGE_WAITING_MAX or the number of workers.',
  },
  sockets_full: {
    kind: 'unavailable',
    says: ({ most }: { most: number }) =>
      `This gateway process has ${most} WebSockets open, which is its limit. Try again, or send the request with POST.`,
    client: 'try again, or send the request with POST',
    operator: 'Raise SOCKETS_MAX, or the number of processes.',
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
      `${path}: this tenant may store ${bytesMax} bytes of answers, conversations, files, waiting background requests and answers for retries, and with this request it would exceed that. Delete some of them, or send the request so that nothing is stored.`,
    client: 'delete some of what is stored, or send the request so that nothing is stored',
    operator: 'Raise KEPT_TENANT_BYTES_MAX, or keep answers and files for fewer days.',
  },
  conversations_full: {
    kind: 'invalid_request',
    code: 'conversations_full',
    says: ({ most }: { most: number }) =>
      `This tenant has ${counted(most, 'conversation')}, which is the limit. Delete some: DELETE /v1/conversations/{id}.`,
    client: 'delete some conversations',
    operator: 'Raise CONVERSATIONS_MAX.',
  },
  files_full: {
    kind: 'invalid_request',
    says: ({ most }: { most: number }) =>
      `This tenant has ${counted(most, 'file')}, which is the limit. Delete some: DELETE /v1/files/{id}.`,
    client: 'delete some files',
    operator: 'Raise FILES_PER_TENANT_MAX.',
  },
  file_bytes_full: {
    kind: 'request_too_large',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `With this file, the files of this tenant would exceed the ${bytesMax} bytes that they may have together. Delete some: DELETE /v1/files/{id}.`,
    client: 'delete some files',
    operator: 'Raise FILES_BYTES_PER_TENANT.',
  },
  body_memory_full: {
    kind: 'unavailable',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `The bodies of running requests use all ${bytesMax} bytes that this gateway process has for them. Try again.`,
    client: 'try again after `retry-after`',
    operator:
      'The bodies of running requests take BODIES_BYTES_MAX. Raise it if the machine has memory, or add a process. If clients send slowly, lower REQUEST_READ_MS.',
  },
  decoded_body_memory_full: {
    kind: 'unavailable',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `The decoded bodies of running requests use all ${bytesMax} bytes that this gateway process has for them. Try again, or send the body unencoded.`,
    client: 'try again after `retry-after`, or send the body unencoded',
    operator:
      'The decoded bodies of requests with a content-encoding take DECODED_BYTES_MAX. Raise it if the machine has memory.',
  },
  key_body_memory_full: {
    kind: 'rate_limited',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `The bodies of this key's running requests take ${bytesMax} bytes in this gateway process, which is the limit for one key. Wait for one of them to end.`,
    client: 'wait for a running request to end',
    operator:
      'The key sends large bodies, or sends them slowly. Raise KEY_BODIES_BYTES_MAX if one key may take more of the process.',
  },
  tenant_queries_full: {
    kind: 'rate_limited',
    says: ({ atOnce, waitingMax }: { atOnce: number; waitingMax: number }) =>
      `${atOnce} queries of this tenant are running in this gateway process and ${waitingMax} are waiting, which is the limit. Wait for one of them to end.`,
    client: 'wait for a query to end',
    operator:
      'One tenant or admin reads the usage log faster than Postgres answers. Have it query shorter periods, one at a time.',
  },
  archive_queries_full: {
    kind: 'rate_limited',
    says: ({ waitingMax }: { waitingMax: number }) =>
      `${waitingMax} queries of older days are waiting in this gateway process, which is the limit. Wait for one of them to end.`,
    client: 'wait for a query to end',
    operator: 'The archive answers one query at a time: docs/reference/archive.md says what a query reads.',
  },
  exports_full: {
    kind: 'rate_limited',
    says: ({ most }: { most: number }) =>
      `${most} exports are running in this gateway process, which is the limit. Wait until one of them ends.`,
    client: 'try again when another export has ended',
    operator: 'Exports of all callers together reach EXPORTS_MAX. Raise it if Postgres has capacity.',
  },
  own_exports_full: {
    kind: 'rate_limited',
    says: ({ most }: { most: number }) =>
      `${most} of your exports are running in this gateway process, which is the limit. Wait until one of them ends.`,
    client: 'wait until one of your exports ends',
    operator: 'One caller may run half of EXPORTS_MAX at once.',
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
      `${waitingMax} changes of this tenant's sub-keys are waiting in this gateway process, which is the limit. Wait for one of them to end.`,
    client: 'wait for a change to end',
  },
  sub_key_changes_slow: {
    kind: 'unavailable',
    says: 'Changes of sub-keys are slow at the moment. Nothing was changed: try again.',
    client: 'try again after `retry-after`',
    operator:
      'Changes of sub-keys wait for their turn on ADMIN_CONNECTIONS: Postgres is slow, or many tenants change keys.',
  },
})

/** `who` ends in "has" or "have". */
interface Allowed {
  who: string
  allowed: number
}

/** In US dollars. `ways`: sentences on what the client can do; `why`: why the request costs so much. */
interface Left {
  cost: string
  left: string
  of: string
  ways: string
  why: string
}
