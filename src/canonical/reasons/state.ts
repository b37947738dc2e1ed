import { reasonsOf } from './entry.ts'

const howToGetAnother = 'GET /v1/images/generations/{id} answers with a new one.'

/** What Tollgate keeps: answers, conversations, files, jobs and repeats. */
export const stateReasons = reasonsOf({
  conversation_not_continuable: {
    kind: 'unsupported_parameter',
    says: 'conversation: this gateway stores none for this key (the operator can change that: responses: { store: true } of the key or its group), and one that a vendor stores cannot be continued, because the gateway cannot know whose it is. Send previous_response_id, or the items themselves in "input".',
    client: 'send `previous_response_id`, or the items themselves',
  },
  conversation_not_found: {
    kind: 'unknown_path',
    code: 'conversation_not_found',
    says: ({ id }: { id: string }) =>
      `conversation: Conversation with id '${id}' not found. This key has no conversation with this id here. One that a vendor stores cannot be continued, because the gateway cannot know whose it is: send the items themselves in "input".`,
    client: 'create a conversation here, or send the items themselves',
  },
  conversation_item_not_found: {
    kind: 'unknown_path',
    says: 'There is no such item in this conversation.',
    client: "use an id from the conversation's list of items",
  },
  conversation_locked: {
    kind: 'invalid_request',
    code: 'conversation_locked',
    says: 'Another process is currently operating on this conversation. Please retry in a few seconds.',
    client: 'wait for the other request in this conversation, and try again',
  },
  conversation_lost: {
    kind: 'invalid_request',
    code: 'conversation_not_found',
    says: 'conversation: it was deleted, or taken over by another request, before this answer was complete, so the answer was not stored.',
    client: 'send the items in a new conversation',
  },
  conversation_too_long: {
    kind: 'invalid_request',
    code: 'context_length_exceeded',
    says: ({ itemsMax, bytesMax }: { itemsMax: number; bytesMax: number }) =>
      `conversation: it has reached its limit of ${itemsMax} items or ${bytesMax} bytes. Delete some of its items, or begin a new one.`,
    client: 'delete items, or begin a new conversation',
    operator: 'Raise CONVERSATION_ITEMS_MAX or KEPT_CHAIN_BYTES_MAX.',
  },
  answer_not_for_conversation: {
    kind: 'upstream_error',
    says: 'This answer cannot be added to the conversation: it is too large or incomplete.',
    client: 'send the request again, without a conversation if the answer is large',
    operator: 'Raise KEPT_ANSWER_BYTES_MAX if answers may be this large.',
  },
  prepared_not_in_conversation: {
    kind: 'unsupported_parameter',
    says: 'conversation: a frame with "generate": false only prepares the next request on this connection. Leave "conversation" out.',
    client: 'leave `conversation` out of the frame',
  },
  background_not_in_conversation: {
    kind: 'unsupported_parameter',
    says: ({ field }: { field: string }) =>
      `${field}: an answer in the background cannot be added to a conversation. Leave one of the two out.`,
    client: 'leave the parameter or the conversation out',
  },
  background_not_stored: {
    kind: 'invalid_request',
    says: 'background: such an answer is stored until it is fetched. Leave "store" out, or send true.',
    client: 'leave `store` out, or send true',
  },
  kept_answer_too_large: {
    kind: 'upstream_error',
    fault: 'client',
    code: 'kept_answer_too_large',
    says: ({ bytes, bytesMax }: { bytes: number; bytesMax: number }) =>
      `This answer and the new input of its request take ${bytes} bytes, and at most ${bytesMax} can be stored. Send "store": false, and no conversation, to get it without storing it.`,
    client: 'send `"store": false`, and no conversation',
    operator: 'Raise KEPT_ANSWER_BYTES_MAX.',
  },
  kept_chain_too_long: {
    kind: 'invalid_request',
    code: 'context_length_exceeded',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `previous_response_id: the conversation up to it takes more than the ${bytesMax} bytes that this gateway sends again. Begin a new one with what it needs in "input".`,
    client: 'begin a new conversation with what it needs',
    operator: 'Raise KEPT_CHAIN_BYTES_MAX.',
  },
  previous_response_not_found: {
    kind: 'invalid_request',
    code: 'previous_response_not_found',
    says: ({ id, advice }: { id: string; advice: string }) =>
      `previous_response_id: no upstream of this model has an answer "${id}" of yours. Send the conversation in "input" instead.${advice}`,
    client: 'send the conversation in `input`',
  },
  previous_response_deleted: {
    kind: 'invalid_request',
    code: 'previous_response_not_found',
    says: ({ id }: { id: string }) =>
      `previous_response_id: an answer before "${id}" was deleted, so the conversation cannot be continued. Send the conversation in "input" instead.`,
    client: 'send the conversation in `input`',
  },
  thread_not_found: {
    kind: 'unknown_path',
    code: 'thread_not_found',
    says: 'thread.previous_message_id: this key has no such answer here, or it has expired. Send the whole conversation in a new thread.',
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
    says: 'thread.previous_message_id: another request is continuing this answer. Wait for its end, or send the whole conversation in a new thread.',
    client: 'wait for the other request, or send the whole conversation in a new thread',
  },
  thread_unsupported_request: {
    kind: 'invalid_request',
    code: 'thread_unsupported_request',
    says: 'thread: this tenant has reached its limit for stored answers. Send the whole conversation without a thread.',
    client: 'send the whole conversation without a thread',
    operator: 'Raise KEPT_TENANT_BYTES_MAX, or keep answers for fewer days.',
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
    client: 'ask for the job that the message names',
  },
  idempotency_key_reused: {
    kind: 'idempotency_mismatch',
    says: 'The first request with this Idempotency-Key had another path or body. Give each request its own key.',
    client: 'give each request its own key',
  },
  idempotency_answer_lost: {
    kind: 'idempotency_mismatch',
    code: 'idempotency_answer_lost',
    says: ({ id }: { id: string }) =>
      `Request ${id} had this Idempotency-Key and succeeded, but its answer was lost before it could be stored. Use another key to send it again.`,
    client: 'use another key to send it again',
  },
  idempotent_answer_gone: {
    kind: 'unknown_path',
    says: ({ what }: { what: 'answer' | 'job' }) =>
      `The ${what} of the first request with this Idempotency-Key is no longer stored. Use another key to send it again.`,
    client: 'use another key to send it again',
  },
  image_job_empty: {
    kind: 'invalid_request',
    says: 'This image generation ended without images. Send it again.',
    client: 'ask for the images again',
  },
  image_cancelled: {
    kind: 'invalid_request',
    says: 'The job was cancelled.',
    client: 'nothing: the client has cancelled it',
  },
  image_gone: {
    kind: 'unknown_path',
    says: 'This image is no longer stored here. Generate it again.',
    client: 'generate it again',
  },
  image_link_unsigned: {
    kind: 'permission_denied',
    says: `The signature of the link is missing or wrong: use the link exactly as it was given. ${howToGetAnother}`,
    client: 'take a new link from the job',
  },
  image_link_expired: {
    kind: 'permission_denied',
    says: ({ at }: { at: string }) => `The link expired at ${at}. ${howToGetAnother}`,
    client: 'take a new link from the job',
  },
  conversations_not_kept: {
    kind: 'permission_denied',
    code: 'conversations_not_kept',
    says: 'Conversations are not stored for this key: neither it nor its group has the setting "responses". Send the items themselves in "input".',
    client: 'send the items themselves in `input`',
  },
  answer_not_held: {
    kind: 'unknown_path',
    says: ({ id, advice }: { id: string; advice: string }) =>
      `No answer "${id}" of yours is stored here. It was deleted, has expired, or was never stored: its request had "store": false, or the gateway stores none for this key. ${advice}`,
    client: 'send the conversation itself',
  },
  answer_not_cancellable: {
    kind: 'invalid_request',
    says: 'Only an answer that is made in the background can be cancelled.',
    client: 'close the connection instead',
  },
  answer_in_progress: {
    kind: 'invalid_request',
    says: ({ id }: { id: string }) =>
      `This answer is still being made. Cancel it first: POST /v1/responses/${id}/cancel.`,
    client: 'cancel the answer first',
  },
  answer_events_not_kept: {
    kind: 'unsupported_parameter',
    says: 'stream: only an answer that is made in the background has events here, and only for some time after its end. Leave "stream" out.',
    client: 'read it without `stream`',
  },
  files_not_kept: {
    kind: 'unknown_path',
    says: 'This gateway does not store files (FILE_DAYS is 0). Send them inside requests.',
    client: 'send files inside requests',
    operator: 'Set FILE_DAYS to store the files of clients.',
  },
  file_not_found: {
    kind: 'unknown_path',
    says: ({ id }: { id: string }) =>
      `No file "${id}" of yours is stored here. GET /v1/files lists your files.`,
    client: 'use an id from GET /v1/files',
  },
  image_job_not_found: {
    kind: 'unknown_path',
    says: 'No image generation of yours has this id. GET /v1/images/generations lists them.',
    client: 'use an id from GET /v1/images/generations',
  },
  request_not_found: {
    kind: 'unknown_path',
    says: 'The usage log has no such request for this key.',
    client: 'use an id from GET /v1/usage/requests',
  },
})
