import { counted } from '../counted.ts'
import { reasonsOf } from './entry.ts'

/** Rates, money, memory and waiting lines. */
export const limitReasons = reasonsOf({
  request_rate_reached: {
    kind: 'rate_limited',
    says: ({ who, allowed }: Allowed) =>
      `${who} used up the ${counted(allowed, 'request')} per minute that ${allowed === 1 ? 'is' : 'are'} allowed. Wait as long as retry-after says.`,
    client: 'wait as long as `retry-after` says',
    operator: 'Raise `requests_per_minute` of the key, group or tenant that the message names.',
  },
  token_rate_reached: {
    kind: 'rate_limited',
    says: ({ who, allowed }: Allowed) =>
      `${who} used up the ${counted(allowed, 'token')} per minute that ${allowed === 1 ? 'is' : 'are'} allowed. Wait as long as retry-after says, or send less.`,
    client: 'wait as long as `retry-after` says, or send less',
    operator: 'Raise `tokens_per_minute` of the key, group or tenant that the message names.',
  },
  concurrency_reached: {
    kind: 'rate_limited',
    says: ({ who, allowed }: Allowed) =>
      `${who} as many requests running as are allowed, ${allowed}. Wait for one of them to end.`,
    client: 'wait for a running request to end',
    operator: 'Raise `concurrency` of the key, group or tenant that the message names.',
  },
  key_requests_full: {
    kind: 'rate_limited',
    says: ({ most }: { most: number }) =>
      `This key runs ${counted(most, 'request')} in this gateway process, as many as one key may. Wait for one of them to end.`,
    client: 'wait for a running request to end',
    operator: 'Raise KEY_IN_FLIGHT_MAX, or spread the load over more processes.',
  },
  process_full: {
    kind: 'unavailable',
    says: ({ most }: { most: number }) =>
      `This gateway process runs ${counted(most, 'request')}, as many as it may. Try again.`,
    client: 'try again after `retry-after`',
    operator: 'Add processes or machines, or raise IN_FLIGHT_MAX where the machine has memory for more.',
  },
  key_body_queue_full: {
    kind: 'rate_limited',
    says: ({ waitingMax }: { waitingMax: number }) =>
      `${waitingMax} large bodies of this key wait to be read by this gateway process, as many as of one key may. Try again.`,
    client: 'try again after `retry-after`, with fewer large bodies at once',
    operator:
      'One key sends many large bodies at once. Raise BODY_THREADS where the machine has cores, or BODY_THREAD_WAITING_MAX.',
  },
  body_queue_full: {
    kind: 'unavailable',
    says: ({ waitingMax }: { waitingMax: number }) =>
      `${waitingMax} large bodies wait to be read by this gateway process, as many as may. Try again.`,
    client: 'try again after `retry-after`',
    operator:
      'Raise BODY_THREADS where the machine has cores, BODY_THREAD_WAITING_MAX, or the number of processes.',
  },
  channels_full: {
    kind: 'unavailable',
    says: 'The channels of this model run as many requests as this gateway process allows them. Try again.',
    client: 'try again after `retry-after`',
    operator:
      'The upstreams are slow, or the load is too high. Raise `concurrency` of the channels, or add channels or processes.',
  },
  money_held: {
    kind: 'rate_limited',
    says: ({ cost, free, of, why }: { cost: string; free: string; of: string; why: string }) =>
      `Running requests hold the money: this request could cost up to $${cost}, and $${free} of ${of} is free at the moment. Try again when some of them have ended.${why}`,
    client: 'try again when running requests have ended, or bound the answer',
    operator:
      'Each request holds its worst case while it runs. Raise the budget or the balance, or BUDGET_WAIT_MS, the time that a request waits for it.',
  },
  credit_used_up: {
    kind: 'insufficient_credit',
    says: ({ cost, left, of, ways, why }: Left) =>
      `This request could cost up to $${cost}, and $${left} is left of ${of}. ${ways}${why}`,
    client: 'add credit, or make the request cheaper as the message says',
    operator: "Add an entry to the tenant's balance.",
  },
  budget_used_up: {
    kind: 'insufficient_credit',
    says: ({ cost, left, of, resets, ways, why }: Left & { resets: string }) =>
      `This request could cost up to $${cost}, and $${left} is left of ${of}, which ${resets}. ${ways}${why}`,
    client: 'wait for the reset, make the request cheaper as the message says, or have the budget raised',
    operator: 'Raise the budget of the key or group that the message names.',
  },
  cost_not_bounded: {
    kind: 'permission_denied',
    says: ({ model, why }: { model: string; why: string }) =>
      `This key has a spending limit and what model "${model}" may cost is not bounded: ${why}`,
    client: 'bound the answer as the message says, or use another model',
    operator: "Set what the message names: the model's price, `context_length` or `max_output_tokens`.",
  },
  background_cost_unseen: {
    kind: 'permission_denied',
    says: ({ field }: { field: string }) =>
      `${field}: this key has a spending limit, and this gateway cannot see the cost of an answer that is made in the background. Leave "${field}" out.`,
    client: 'leave the member out',
  },
  background_queue_full: {
    kind: 'rate_limited',
    says: ({ waitingMax }: { waitingMax: number }) =>
      `${counted(waitingMax, 'answer')} in the background of this tenant ${waitingMax === 1 ? 'is' : 'are'} waiting, the most that may wait. Try again when some have been made.`,
    client: 'try again after `retry-after`',
    operator: 'Raise BACKGROUND_CONCURRENCY or the number of workers, or BACKGROUND_WAITING_MAX.',
  },
  image_queue_full: {
    kind: 'rate_limited',
    says: ({ waitingMax }: { waitingMax: number }) =>
      `${counted(waitingMax, 'image generation')} of this tenant ${waitingMax === 1 ? 'is' : 'are'} waiting, the most that may wait. Try again when some have been made.`,
    client: 'try again after `retry-after`',
    operator: 'Raise IMAGE_WAITING_MAX or the number of workers.',
  },
  sockets_full: {
    kind: 'unavailable',
    says: ({ most }: { most: number }) =>
      `This gateway process has ${most} WebSockets open, as many as it may. Try again, or send the request with POST.`,
    client: 'try again, or send the request with POST',
    operator: 'Raise SOCKETS_MAX, or the number of processes.',
  },
  key_sockets_full: {
    kind: 'rate_limited',
    says: ({ most }: { most: number }) =>
      `This key has ${most} WebSockets open in this gateway process, as many as one key may. Close one of them.`,
    client: 'close a connection',
    operator: 'Raise KEY_SOCKETS_MAX.',
  },
  storage_full: {
    kind: 'rate_limited',
    code: 'storage_full',
    says: ({ path, bytesMax }: { path: string; bytesMax: number }) =>
      `${path}: this tenant may keep ${bytesMax} bytes (KEPT_TENANT_BYTES_MAX) of answers, conversations, files, requests that wait in the background and answers for repeats, and with this request it would keep more. Delete some of them, or send the request so that nothing is kept.`,
    client: 'delete some of what is kept, or send the request so that nothing is kept',
    operator: 'Raise KEPT_TENANT_BYTES_MAX, or keep answers and files for fewer days.',
  },
  conversations_full: {
    kind: 'invalid_request',
    code: 'conversations_full',
    says: ({ most }: { most: number }) =>
      `This tenant has ${counted(most, 'conversation')}, as many as it may. Delete some with DELETE /v1/conversations/{id}.`,
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
      `With this file, the files of this tenant would have more than the ${bytesMax} bytes that they may have. Delete some: DELETE /v1/files/{id}.`,
    client: 'delete some files',
    operator: 'Raise FILES_BYTES_PER_TENANT.',
  },
  body_memory_full: {
    kind: 'unavailable',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `The bodies of running requests use all ${bytesMax} bytes that this gateway process has for them. Try again.`,
    client: 'try again after `retry-after`',
    operator:
      'The running requests of all keys together hold BODIES_BYTES_MAX. Raise it where the machine has memory, or add a process.',
  },
  decoded_body_memory_full: {
    kind: 'unavailable',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `The decoded bodies of running requests use all ${bytesMax} bytes that they may use. Try again, or send the body unencoded.`,
    client: 'try again after `retry-after`, or send the body unencoded',
    operator:
      'Bodies with a content-encoding take DECODED_BYTES_MAX together. Raise it where the machine has memory.',
  },
  key_body_memory_full: {
    kind: 'rate_limited',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `The bodies of this key's running requests use the ${bytesMax} bytes of this gateway process that one key may use. Wait for one of them to end.`,
    client: 'wait for a running request to end',
    operator: 'One key holds KEY_BODIES_BYTES_MAX. Raise it if the key may take more of the process.',
  },
  tenant_queries_full: {
    kind: 'rate_limited',
    says: ({ atOnce, waitingMax }: { atOnce: number; waitingMax: number }) =>
      `${atOnce} queries of this tenant are running in this gateway process and ${waitingMax} are waiting, which is the limit. Wait for one of them to end.`,
    client: 'wait for a query to end',
    operator:
      'One tenant or admin reads the usage log faster than Postgres answers. LOG_CONNECTIONS sets the connections.',
  },
  archive_queries_full: {
    kind: 'rate_limited',
    says: ({ waitingMax }: { waitingMax: number }) =>
      `${waitingMax} queries of older days are waiting in this gateway process, which is the limit. Wait for one of them to end.`,
    client: 'wait for a query to end',
    operator: 'The archive answers one query at a time: see docs/reference/archive.md on what a query reads.',
  },
  exports_full: {
    kind: 'rate_limited',
    says: ({ most }: { most: number }) =>
      `${most} exports are running in this gateway process, which is the limit. Wait until one of them ends.`,
    client: 'try again when another export has ended',
    operator: 'EXPORTS_MAX exports of all callers are running. Raise it where Postgres has room.',
  },
  own_exports_full: {
    kind: 'rate_limited',
    says: ({ most }: { most: number }) =>
      `${most} of your exports are running in this gateway process, which is the limit. Wait until one of them ends.`,
    client: 'wait until one of your exports ends',
    operator: 'One caller may have half of EXPORTS_MAX.',
  },
  tails_full: {
    kind: 'rate_limited',
    says: ({ most }: { most: number }) =>
      `This process already serves ${most} tails of the request log, which is the limit. Try again.`,
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
