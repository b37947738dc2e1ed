import { reasonsOf } from './entry.ts'

/** What is wrong with a request itself: its fields, body, headers and path. */
export const requestReasons = reasonsOf({
  field_invalid: {
    kind: 'invalid_request',
    says: ({ path, problem }: { path: string; problem: string }) => `${path}: ${problem}`,
    client: 'change the field that the message and `param` name',
  },
  field_wrong_type: {
    kind: 'invalid_request',
    says: ({ path, expected, got }: { path: string; expected: string; got: string }) =>
      `${path}: expected ${expected}, got ${got}`,
    client: 'send a value of the type that the message names',
  },
  field_unknown_value: {
    kind: 'invalid_request',
    says: ({ path, expected, got }: { path: string; expected: string; got: string }) =>
      `${path}: expected ${expected}, got ${got}`,
    client: 'send one of the values that the message lists',
  },
  not_translatable: {
    kind: 'unsupported_parameter',
    says: ({ path, problem }: { path: string; problem: string }) => `${path}: ${problem}`,
    client: 'leave the parameter out, or use a model that is asked in the format of the request',
  },
  tool_names_collide: {
    kind: 'invalid_request',
    says: ({ path, tools, wireName }: { path: string; tools: readonly [string, string]; wireName: string }) =>
      `${path}: the tools "${tools[0]}" and "${tools[1]}" would have the same name upstream ("${wireName}"). Rename one.`,
    client: 'rename one of the tools',
  },
  mutually_exclusive_parameters: {
    kind: 'invalid_request',
    code: 'mutually_exclusive_parameters',
    says: 'conversation: cannot be given together with previous_response_id. Send one of them.',
    client: 'send one of the two',
  },
  compaction_not_streamed: {
    kind: 'unsupported_parameter',
    says: 'stream: a compaction is not streamed; leave it out.',
    client: 'leave `stream` out',
  },
  loss_refused: {
    kind: 'unsupported_parameter',
    says: ({ path, why }: { path: string; why: string }) =>
      `${path}: would be dropped (${why}), and this key or x-tollgate-strict asks to refuse that. Leave it out, or let it be dropped.`,
    client: 'leave the parameter out, or ask without `x-tollgate-strict`',
  },
  webhook_address_refused: {
    kind: 'invalid_request',
    says: ({ header, host }: { header: string; host: string }) =>
      `${header}: webhooks are not sent to the address ${host}. Give a host name or a public address`,
    client: 'give a host name or a public address',
  },
  request_cut: {
    kind: 'invalid_request',
    says: 'The request did not arrive whole.',
    client: 'send it again',
  },
  client_left: {
    kind: 'invalid_request',
    says: 'The client left before its answer.',
    client: 'nothing: the client had left',
  },
  kept_turns_too_large: {
    kind: 'request_too_large',
    says: ({ bytes, bytesMax }: { bytes: number; bytesMax: number }) =>
      `With the kept turns before it the request has ${bytes} bytes, and this gateway accepts ${bytesMax}. Begin a new conversation.`,
    client: 'begin a new conversation',
    operator: 'Raise BODY_BYTES_MAX, or lower KEPT_CHAIN_BYTES_MAX so that such a conversation ends earlier.',
  },
  request_with_files_too_large: {
    kind: 'request_too_large',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `The request with its files is larger than the ${bytesMax} bytes this gateway accepts.`,
    client: 'send fewer or smaller files',
    operator: 'Raise BODY_BYTES_MAX if requests may be this large.',
  },
  upload_form_invalid: {
    kind: 'invalid_request',
    says: 'body: expected a whole form of the type multipart/form-data, with the parts "file" and "purpose"',
    client: 'send a form of the type multipart/form-data, with the parts "file" and "purpose"',
  },
  upload_late: {
    kind: 'unavailable',
    says: 'The upload took too long, and nothing of it is kept. Try again.',
    client: 'send the file again, over a faster connection',
    operator: 'An upload may take as long as FILE_UPLOAD_MS, with the time that the storage of files needs.',
  },
  file_type_refused: {
    kind: 'invalid_request',
    says: 'file: its bytes are no type that is kept here: PDF, PNG, JPEG, GIF, WebP, or text in UTF-8.',
    client: 'send a file of one of the types that the message lists',
  },
  file_too_large: {
    kind: 'request_too_large',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `The file is larger than the ${bytesMax} bytes that one may have here.`,
    client: 'send a smaller file',
    operator: 'Raise FILE_BYTES_MAX if files may be this large.',
  },
  tool_call_missing: {
    kind: 'invalid_request',
    says: ({ what, id }: { what: string; id: string }) =>
      `No tool call found for ${what} with call_id ${id}. Send the conversation anew, with the call before its result.`,
    client: 'send the conversation anew, with the call before its result',
  },
  frame_member_refused: {
    kind: 'unsupported_parameter',
    says: ({ field, problem }: { field: string; problem: string }) => `${field}: ${problem}.`,
    client: 'leave the member out of the frame',
  },
  frame_binary: {
    kind: 'invalid_request',
    says: 'Send text frames: a binary frame is not read.',
    client: 'send text frames',
  },
  socket_busy: {
    kind: 'request_in_progress',
    code: 'response_in_progress',
    says: 'An answer runs on this connection. Wait for its last event, give requests a "stream_id", or open another connection.',
    client: 'wait for the last event, give requests a `stream_id`, or open another connection',
  },
  socket_lanes_full: {
    kind: 'request_in_progress',
    code: 'response_in_progress',
    says: ({ most, what }: { most: number; what: 'run' | 'wait' }) =>
      `${most} requests ${what} on this connection, as many as may. Wait for one of them to end, or open another connection.`,
    client: 'wait for one of the requests to end, or open another connection',
  },
  websocket_connection_limit_reached: {
    kind: 'invalid_request',
    code: 'websocket_connection_limit_reached',
    says: ({ ageMs }: { ageMs: number }) =>
      `This connection is ${ageMs} ms old, as old as it may get. Open a new one.`,
    client: 'open a new connection',
  },
})
