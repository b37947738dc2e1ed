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
    client: 'leave the parameter out, or use a model or an endpoint that the message names',
  },
  tool_names_collide: {
    kind: 'invalid_request',
    says: ({ path, one, other, wireName }: { path: string; one: string; other: string; wireName: string }) =>
      `${path}: the tools "${one}" and "${other}" would have the same name upstream ("${wireName}"). Rename one.`,
    client: 'rename one of the tools',
  },
  mutually_exclusive_parameters: {
    kind: 'invalid_request',
    code: 'mutually_exclusive_parameters',
    says: 'conversation: cannot be used together with previous_response_id. Send one of them.',
    client: 'send one of the two',
  },
  compaction_not_streamed: {
    kind: 'unsupported_parameter',
    says: 'stream: a compaction cannot be streamed. Leave it out.',
    client: 'leave `stream` out',
  },
  loss_refused: {
    kind: 'unsupported_parameter',
    says: ({ path, why }: { path: string; why: string }) =>
      `${path}: would be dropped (${why}), which this key or the header x-tollgate-strict does not allow. Leave it out, or allow that it is dropped.`,
    client: 'leave the parameter out, or send the request without `x-tollgate-strict`',
  },
  webhook_address_refused: {
    kind: 'invalid_request',
    says: ({ header, host }: { header: string; host: string }) =>
      `${header}: webhooks are not sent to the address ${host}. Give a host name or a public address.`,
    client: 'give a host name or a public address',
  },
  request_cut: {
    kind: 'invalid_request',
    says: 'The request did not arrive completely. Send it again.',
    client: 'send it again',
  },
  client_left: {
    kind: 'invalid_request',
    says: 'The client disconnected before it was answered.',
    client: 'nothing: the client had disconnected',
  },
  kept_turns_too_large: {
    kind: 'request_too_large',
    says: ({ bytes, bytesMax }: { bytes: number; bytesMax: number }) =>
      `Together with the earlier turns of its conversation, the request has ${bytes} bytes, and this gateway accepts ${bytesMax}. Begin a new conversation.`,
    client: 'begin a new conversation',
    operator: 'Raise BODY_BYTES_MAX, or lower KEPT_CHAIN_BYTES_MAX so that such a conversation ends earlier.',
  },
  request_with_files_too_large: {
    kind: 'request_too_large',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `Together with its files, the request is larger than the ${bytesMax} bytes this gateway accepts. Send fewer or smaller files.`,
    client: 'send fewer or smaller files',
    operator: 'Raise BODY_BYTES_MAX if requests may be this large.',
  },
  upload_form_invalid: {
    kind: 'invalid_request',
    says: 'body: expected a complete multipart/form-data form, with the parts "file" and "purpose"',
    client: 'send a multipart/form-data form with the parts "file" and "purpose"',
  },
  upload_late: {
    kind: 'unavailable',
    says: 'The upload took too long, and nothing was stored. Try again.',
    client: 'send the file again, over a faster connection',
    operator: 'An upload may take FILE_UPLOAD_MS, including the time to store it.',
  },
  file_type_refused: {
    kind: 'invalid_request',
    says: 'file: its content is not of a type that can be stored here. Send PDF, PNG, JPEG, GIF, WebP, or text in UTF-8.',
    client: 'send a file of one of the types that the message lists',
  },
  file_too_large: {
    kind: 'request_too_large',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `The file is larger than the ${bytesMax} bytes that a file may have here.`,
    client: 'send a smaller file',
    operator: 'Raise FILE_BYTES_MAX if files may be this large.',
  },
  tool_call_missing: {
    kind: 'invalid_request',
    says: ({ what, id }: { what: string; id: string }) =>
      `No tool call found for ${what} with call_id ${id}. Send the conversation again, with the call before its result.`,
    client: 'send the conversation again, with the call before its result',
  },
  frame_member_refused: {
    kind: 'unsupported_parameter',
    says: ({ field, problem }: { field: string; problem: string }) => `${field}: ${problem}.`,
    client: 'leave the member out of the frame',
  },
  frame_binary: {
    kind: 'invalid_request',
    says: 'Send text frames: binary frames are not accepted.',
    client: 'send text frames',
  },
  socket_busy: {
    kind: 'request_in_progress',
    code: 'response_in_progress',
    says: 'This connection is busy with another answer. Wait for its last event, give each request a "stream_id", or open another connection.',
    client: 'wait for the last event, give each request a `stream_id`, or open another connection',
  },
  socket_lanes_full: {
    kind: 'request_in_progress',
    code: 'response_in_progress',
    says: ({ most, what }: { most: number; what: 'running' | 'waiting' }) =>
      `${most} requests are ${what} on this connection, which is the limit. Wait for one of them to end, or open another connection.`,
    client: 'wait for one of the requests to end, or open another connection',
  },
  websocket_connection_limit_reached: {
    kind: 'invalid_request',
    code: 'websocket_connection_limit_reached',
    says: ({ ageMs }: { ageMs: number }) =>
      `This connection is ${ageMs} ms old, which is the limit. Open a new one.`,
    client: 'open a new connection',
  },
  body_not_json: {
    kind: 'invalid_request',
    says: 'body: expected JSON, but it cannot be parsed',
    client: 'send valid JSON',
  },
  body_not_object: {
    kind: 'invalid_request',
    says: 'body: expected a JSON object',
    client: 'send a JSON object',
  },
  body_too_large: {
    kind: 'request_too_large',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `The request body is larger than the ${bytesMax} bytes this gateway accepts. Send a shorter one.`,
    client: 'send a shorter body',
    operator: 'Raise BODY_BYTES_MAX if bodies may be this large.',
  },
  content_encoding_unknown: {
    kind: 'invalid_request',
    says: ({ encoding, encodings }: { encoding: string; encodings: string }) =>
      `content-encoding: "${encoding}" is not accepted. Send the body in one of ${encodings}, or unencoded.`,
    client: 'send the body unencoded, or in an encoding that the message lists',
  },
  content_encoding_damaged: {
    kind: 'invalid_request',
    says: ({ encoding }: { encoding: string }) =>
      `content-encoding: the body is not valid ${encoding}, or is incomplete. Encode it again, or send it unencoded.`,
    client: 'encode the body again, or send it unencoded',
  },
  headers_too_large: {
    kind: 'request_too_large',
    says: ({ bytesMax, headersMax }: { bytesMax: number; headersMax: number }) =>
      `The request has more than ${bytesMax} bytes of headers, or more than ${headersMax} headers. Send fewer or shorter ones.`,
    client: 'send fewer or shorter headers',
    operator: 'Raise HEADER_BYTES_MAX if clients need more headers.',
  },
  headers_late: {
    kind: 'invalid_request',
    says: ({ withinMs }: { withinMs: number }) =>
      `The headers of the request did not arrive within ${withinMs} ms.`,
    client: 'send the headers faster',
    operator: 'Clients have HEADER_READ_MS for the headers. Slow networks need more.',
  },
  request_late: {
    kind: 'invalid_request',
    says: ({ withinMs }: { withinMs: number }) => `The request did not arrive within ${withinMs} ms.`,
    client: 'send the request faster, or a smaller one',
    operator: 'Clients have REQUEST_READ_MS for a whole request. Slow networks need more.',
  },
  not_http: {
    kind: 'invalid_request',
    says: 'These bytes are not an HTTP/1.1 request.',
    client: 'send HTTP/1.1',
  },
  not_a_proxy: {
    kind: 'invalid_request',
    says: 'This server is not a proxy and does not serve CONNECT. Use it as the base URL.',
    client: 'use this server as the base URL, not as a proxy',
  },
  request_target_invalid: {
    kind: 'invalid_request',
    says: 'The request target must be a path that begins with one slash, such as /v1/models.',
    client: 'send a path as target',
  },
  host_invalid: {
    kind: 'invalid_request',
    says: 'Send one "host" header with the name, or address, and port that you call.',
    client: 'send one valid `host`',
  },
  body_framing_invalid: {
    kind: 'invalid_request',
    says: 'Send a body with "content-length", or with "transfer-encoding: chunked" in HTTP/1.1.',
    client: 'send `content-length`, or `transfer-encoding: chunked`',
  },
  expectation_unknown: {
    kind: 'invalid_request',
    says: 'Send no "expect" header, or "expect: 100-continue".',
    client: 'send no `expect`',
  },
  header_repeated: {
    kind: 'invalid_request',
    says: ({ name }: { name: string }) => `The header "${name}" came more than once. Send it once.`,
    client: 'send the header once',
  },
  idempotency_key_invalid: {
    kind: 'invalid_request',
    says: 'idempotency-key: expected 1 to 255 visible ASCII characters',
    client: 'send 1 to 255 visible ASCII characters',
  },
  path_unknown: {
    kind: 'unknown_path',
    says: ({ advice }: { advice: string }) => advice,
    client: 'call the path that the message names',
  },
  path_escape_invalid: {
    kind: 'invalid_request',
    says: 'The path has a % that does not begin an escape; write it as %25.',
    client: 'write % as %25',
  },
  origin_not_allowed: {
    kind: 'unknown_path',
    says: ({ origin, path }: { origin: string; path: string }) =>
      `Pages of the origin ${origin} may not call ${path} here. The operator allows origins with CORS_ORIGINS; they may call the endpoints of models, /v1/models and /v1/usage.`,
    client: 'call from a server, or ask the operator to allow the origin',
    operator: 'Pages of other origins may call only where CORS_ORIGINS names them.',
  },
  websocket_not_served: {
    kind: 'unknown_path',
    says: ({ path }: { path: string }) =>
      `${path} is not served over a WebSocket here. Send the request with POST over HTTP.`,
    client: 'send the request with POST',
  },
  count_with_conversation_too_large: {
    kind: 'unsupported_parameter',
    says: 'conversation: the tokens of a request this large cannot be counted together with a conversation. Leave "conversation" out.',
    client: 'leave `conversation` out',
  },
})
