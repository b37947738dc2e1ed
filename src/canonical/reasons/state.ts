import { reasonsOf } from './entry.ts'

const howToGetAnother = 'GET /v1/images/generations/{id} returns a new one.'

/** Refusals about stored data: answers, conversations, files, jobs and repeated requests. */
export const stateReasons = reasonsOf({
  conversation_not_continuable: {
    kind: 'unsupported_parameter',
    says: 'conversation: this gateway does not store conversations for this key (the operator can enable it with responses: { store: true } on the key or its group), and a conversation stored at a vendor cannot be continued, because the gateway cannot tell who owns it. Send previous_response_id, or the items themselves in "input".',
    client: 'send `previous_response_id`, or the items themselves',
  },
  conversation_not_found: {
    kind: 'unknown_path',
    code: 'conversation_not_found',
    says: ({ id }: { id: string }) =>
      `conversation: Conversation with id '${id}' not found. This key has no conversation with this id. A conversation stored at a vendor cannot be continued, because the gateway cannot tell who owns it. Send the items themselves in "input".`,
    client: 'create a conversation here, or send the items themselves',
  },
  conversation_item_not_found: {
    kind: 'unknown_path',
    says: 'This conversation has no item with this id.',
    client: "use an id from the conversation's list of items",
  },
  conversation_locked: {
    kind: 'invalid_request',
    code: 'conversation_locked',
    says: 'Another process is currently operating on this conversation. Please retry in a few seconds.',
    client: 'wait for the other request in this conversation to finish, and try again',
  },
  conversation_lost: {
    kind: 'invalid_request',
    code: 'conversation_not_found',
    says: 'conversation: was deleted or taken over by another request before this answer was complete, so the answer was not stored. Send the items in a new conversation.',
    client: 'send the items in a new conversation',
  },
  conversation_too_long: {
    kind: 'invalid_request',
    code: 'context_length_exceeded',
    says: ({ itemsMax, bytesMax }: { itemsMax: number; bytesMax: number }) =>
      `conversation: has reached its limit of ${itemsMax} items or ${bytesMax} bytes. Delete some of its items, or start a new conversation.`,
    client: 'delete items, or start a new conversation',
    operator: 'Raise CONVERSATION_ITEMS_MAX or KEPT_CHAIN_BYTES_MAX.',
  },
  answer_not_for_conversation: {
    kind: 'upstream_error',
    says: 'The answer was too large or incomplete, so it could not be added to the conversation. Send the request again, without a conversation if the answer is large.',
    client: 'send the request again, or without a conversation if the answer is large',
    operator: 'Raise KEPT_ANSWER_BYTES_MAX to allow answers of this size.',
  },
  prepared_not_in_conversation: {
    kind: 'unsupported_parameter',
    says: 'conversation: a frame with "generate": false only prepares the next request on this connection. Leave "conversation" out.',
    client: 'leave `conversation` out of the frame',
  },
  background_not_in_conversation: {
    kind: 'unsupported_parameter',
    says: ({ field }: { field: string }) =>
      `${field}: a background answer cannot be added to a conversation. Leave out "background" or "conversation".`,
    client: 'leave the parameter or the conversation out',
  },
  background_not_stored: {
    kind: 'invalid_request',
    says: 'background: a background answer must be stored so that it can be fetched. Leave "store" out, or set it to true.',
    client: 'leave `store` out, or set it to true',
  },
  kept_answer_too_large: {
    kind: 'upstream_error',
    fault: 'client',
    code: 'kept_answer_too_large',
    says: ({ bytes, bytesMax }: { bytes: number; bytesMax: number }) =>
      `This answer and the new input of its request take up ${bytes} bytes, but at most ${bytesMax} can be stored. To receive it without storing it, send "store": false and no conversation.`,
    client: 'send `"store": false` and no conversation',
    operator: 'Raise KEPT_ANSWER_BYTES_MAX.',
  },
  kept_chain_too_long: {
    kind: 'invalid_request',
    code: 'context_length_exceeded',
    says: ({ member, turns, bytesMax }: { member: string; turns: string; bytesMax: number }) =>
      `${member}: the conversation up to this answer exceeds the ${bytesMax} bytes that this gateway can send again. Start a new conversation, with the necessary context in "${turns}".`,
    client: 'start a new conversation with the necessary context',
    operator: 'Raise KEPT_CHAIN_BYTES_MAX.',
  },
  previous_response_not_found: {
    kind: 'invalid_request',
    code: 'previous_response_not_found',
    says: ({ member, turns, id, advice }: { member: string; turns: string; id: string; advice: string }) =>
      `${member}: answer "${id}" was not found at any upstream of this model. Send the conversation in "${turns}" instead.${advice}`,
    client: 'send the conversation itself',
  },
  previous_response_deleted: {
    kind: 'invalid_request',
    code: 'previous_response_not_found',
    says: ({ member, turns, id }: { member: string; turns: string; id: string }) =>
      `${member}: an answer before "${id}" was deleted, so the conversation cannot be continued. Send the conversation in "${turns}" instead.`,
    client: 'send the conversation itself',
  },
  thread_not_found: {
    kind: 'unknown_path',
    code: 'thread_not_found',
    says: 'thread.previous_message_id: this key has no stored answer with this id, or it has expired. Send the whole conversation in a new thread.',
    client: 'send the whole conversation in a new thread',
  },
  thread_already_continued: {
    kind: 'invalid_request',
    code: 'thread_already_continued',
    says: 'thread.previous_message_id: another request has continued this answer. Send the whole conversation in a new thread.',
    client: 'send the whole conversation in a new thread',
  },
  thread_continue_in_flight: {
    kind: 'invalid_request',
    code: 'thread_continue_in_flight',
    says: 'thread.previous_message_id: another request is continuing this answer. Wait for it to finish, or send the whole conversation in a new thread.',
    client: 'wait for the other request to finish, or send the whole conversation in a new thread',
  },
  thread_unsupported_request: {
    kind: 'invalid_request',
    code: 'thread_unsupported_request',
    says: 'thread: this tenant has reached its limit for stored answers. Send the whole conversation without a thread.',
    client: 'send the whole conversation without a thread',
    operator: 'Raise KEPT_TENANT_BYTES_MAX, or store answers for fewer days.',
  },
  idempotent_request_running: {
    kind: 'request_in_progress',
    says: 'The first request with this Idempotency-Key is still running. Try again to get its answer.',
    client: 'try again after `retry-after` to get its answer',
  },
  idempotent_job_running: {
    kind: 'request_in_progress',
    says: ({ jobId }: { jobId: string }) =>
      `The first request with this Idempotency-Key is still running: GET /v1/images/generations/${jobId} shows its progress.`,
    client: 'fetch the job that the message names',
  },
  idempotency_key_reused: {
    kind: 'idempotency_mismatch',
    says: 'The first request with this Idempotency-Key had a different path or body. Use a different key for each request.',
    client: 'use a different key for each request',
  },
  idempotency_answer_lost: {
    kind: 'idempotency_mismatch',
    code: 'idempotency_answer_lost',
    says: ({ id }: { id: string }) =>
      `Request ${id} used this Idempotency-Key and succeeded, but its answer was lost before it could be stored. Send the request again with another key.`,
    client: 'send the request again with another key',
  },
  idempotent_answer_gone: {
    kind: 'unknown_path',
    says: ({ what }: { what: 'answer' | 'job' }) =>
      `The ${what} of the first request with this Idempotency-Key is no longer stored. Send the request again with another key.`,
    client: 'send the request again with another key',
  },
  image_job_empty: {
    kind: 'invalid_request',
    says: 'This image generation finished without images. Send the request again.',
    client: 'send the request again',
  },
  image_cancelled: {
    kind: 'invalid_request',
    says: 'The job was cancelled.',
    client: 'nothing: the client cancelled it',
  },
  image_gone: {
    kind: 'unknown_path',
    says: 'This image is no longer stored. Generate it again.',
    client: 'generate it again',
  },
  image_link_unsigned: {
    kind: 'permission_denied',
    says: `The signature of the link is missing or wrong. Use the link exactly as it was returned. ${howToGetAnother}`,
    client: 'get a new link from the job',
  },
  image_link_expired: {
    kind: 'permission_denied',
    says: ({ at }: { at: string }) => `The link expired at ${at}. ${howToGetAnother}`,
    client: 'get a new link from the job',
  },
  conversations_not_kept: {
    kind: 'permission_denied',
    code: 'conversations_not_kept',
    says: 'Conversations are not stored for this key because neither it nor its group enables storage with the "responses" setting. Send the items themselves in "input".',
    client: 'send the items themselves in `input`',
  },
  answer_not_held: {
    kind: 'unknown_path',
    says: ({ id, advice }: { id: string; advice: string }) =>
      `Answer "${id}" was not found. It was deleted, has expired, or was never stored, because its request set "store": false or the gateway does not store answers for this key. ${advice}`,
    client: 'send the conversation itself',
  },
  answer_not_cancellable: {
    kind: 'invalid_request',
    says: 'Only background answers can be cancelled. Close the connection to end any other.',
    client: 'close the connection instead',
  },
  answer_in_progress: {
    kind: 'invalid_request',
    says: ({ id }: { id: string }) =>
      `This answer is still being generated. Cancel it first with POST /v1/responses/${id}/cancel.`,
    client: 'cancel the answer first',
  },
  answer_events_not_kept: {
    kind: 'unsupported_parameter',
    says: 'stream: events are available only for background answers, and only for a limited time after they finish. Leave "stream" out.',
    client: 'read it without `stream`',
  },
  files_not_kept: {
    kind: 'unknown_path',
    says: 'This gateway does not store files (FILE_DAYS is 0). Include the content of files in the request.',
    client: 'include the content of files in the request',
    operator: 'Set FILE_DAYS to store files for clients.',
  },
  file_not_found: {
    kind: 'unknown_path',
    says: ({ id }: { id: string }) => `File "${id}" was not found. GET /v1/files lists the stored files.`,
    client: 'use an id from GET /v1/files',
  },
  image_job_not_found: {
    kind: 'unknown_path',
    says: 'No image generation with this id was found. GET /v1/images/generations lists them.',
    client: 'use an id from GET /v1/images/generations',
  },
  request_not_found: {
    kind: 'unknown_path',
    says: 'The usage log has no request with this id for this key.',
    client: 'use an id from GET /v1/usage/requests',
  },
})
