import { reasonsOf } from './entry.ts'

/** Problems with a request itself: its fields, body, headers and path. */
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
      `${path}: would be dropped (${why}), which this key or the x-tollgate-strict header does not allow. Leave it out, or allow dropped parameters.`,
    client: 'leave the parameter out, or send the request without `x-tollgate-strict`',
  },
  webhook_address_refused: {
    kind: 'invalid_request',
    says: ({ header, host }: { header: string; host: string }) =>
      `${header}: webhooks are not sent to the address ${host}. Use a host name or a public address.`,
    client: 'use a host name or a public address',
  },
  request_cut: {
    kind: 'invalid_request',
    says: 'The request was incomplete when the connection ended. Send it again.',
    client: 'send it again',
  },
  client_left: {
    kind: 'invalid_request',
    says: 'The client disconnected before it received an answer.',
    client: 'nothing: the client had disconnected',
  },
  kept_turns_too_large: {
    kind: 'request_too_large',
    says: ({ bytes, bytesMax }: { bytes: number; bytesMax: number }) =>
      `Together with the earlier turns of its conversation, the request has ${bytes} bytes, but this gateway accepts at most ${bytesMax}. Start a new conversation.`,
    client: 'start a new conversation',
    operator:
      'Raise BODY_BYTES_MAX, or lower KEPT_CHAIN_BYTES_MAX so that such conversations reach their limit earlier.',
  },
  request_with_files_too_large: {
    kind: 'request_too_large',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `Together with its files, the request is larger than the ${bytesMax} bytes that this gateway accepts. Send fewer or smaller files.`,
    client: 'send fewer or smaller files',
    operator: 'Raise BODY_BYTES_MAX to allow requests of this size.',
  },
  upload_form_invalid: {
    kind: 'invalid_request',
    says: 'body: expected a complete multipart/form-data form with the parts "file" and "purpose"',
    client: 'send a multipart/form-data form with the parts "file" and "purpose"',
  },
  upload_late: {
    kind: 'unavailable',
    says: 'The upload took too long, and nothing was stored. Try again.',
    client: 'send the file again, over a faster connection',
    operator: 'An upload can take up to FILE_UPLOAD_MS, including the time to store the file.',
  },
  file_type_refused: {
    kind: 'invalid_request',
    says: 'file: this gateway cannot store files of this type. Send PDF, PNG, JPEG, GIF, WebP or UTF-8 text.',
    client: 'send a file of one of the types that the message lists',
  },
  file_too_large: {
    kind: 'request_too_large',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `The file is larger than the ${bytesMax} bytes that this gateway accepts. Send a smaller file.`,
    client: 'send a smaller file',
    operator: 'Raise FILE_BYTES_MAX to allow files of this size.',
  },
  tool_call_missing: {
    kind: 'invalid_request',
    says: ({ what, id }: { what: string; id: string }) =>
      `No tool call found for ${what} with call_id ${id}. Send the conversation again, with the call before its result.`,
    client: 'send the conversation again, with the call before its result',
  },
  frame_member_refused: {
    kind: 'unsupported_parameter',
    says: ({ field, problem }: { field: string; problem: string }) => `${field}: ${problem}`,
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
    says: 'This connection is busy with another answer. Wait for its last event, set a "stream_id" on each request, or open another connection.',
    client: 'wait for the last event, set a `stream_id` on each request, or open another connection',
  },
  socket_lanes_full: {
    kind: 'request_in_progress',
    code: 'response_in_progress',
    says: ({ most, what }: { most: number; what: 'running' | 'waiting' }) =>
      `${most} requests are ${what} on this connection, which is the limit. Wait for one of them to finish, or open another connection.`,
    client: 'wait for one of the requests to finish, or open another connection',
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
    says: 'body: expected valid JSON, but parsing failed',
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
      `The request body is larger than the ${bytesMax} bytes that this gateway accepts. Send a smaller one.`,
    client: 'send a smaller body',
    operator: 'Raise BODY_BYTES_MAX to allow bodies of this size.',
  },
  content_encoding_unknown: {
    kind: 'invalid_request',
    says: ({ encoding, encodings }: { encoding: string; encodings: string }) =>
      `content-encoding: "${encoding}" is not accepted. Use one of ${encodings}, or send the body unencoded.`,
    client: 'send the body unencoded, or in one of the encodings that the message lists',
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
    operator: 'Raise HEADER_BYTES_MAX if clients have to send more headers.',
  },
  headers_late: {
    kind: 'invalid_request',
    says: ({ withinMs }: { withinMs: number }) =>
      `The headers of the request did not arrive within ${withinMs} ms.`,
    client: 'send the headers faster',
    operator: 'Headers must arrive within HEADER_READ_MS. Raise it for slow networks.',
  },
  request_late: {
    kind: 'invalid_request',
    says: ({ withinMs }: { withinMs: number }) => `The request did not arrive within ${withinMs} ms.`,
    client: 'send the request faster, or make it smaller',
    operator: 'A request must arrive within REQUEST_READ_MS. Raise it for slow networks.',
  },
  not_http: {
    kind: 'invalid_request',
    says: 'The data received is not an HTTP/1.1 request.',
    client: 'send HTTP/1.1',
  },
  not_a_proxy: {
    kind: 'invalid_request',
    says: 'This server is not a proxy and does not support CONNECT. Use its address as the base URL.',
    client: "use the server's address as the base URL, not as a proxy",
  },
  request_target_invalid: {
    kind: 'invalid_request',
    says: 'The request target must be a path that begins with a single slash, such as /v1/models.',
    client: 'send a path as the request target',
  },
  host_invalid: {
    kind: 'invalid_request',
    says: 'Send exactly one "host" header, with the host name or address and the port of this server.',
    client: 'send exactly one valid `host` header',
  },
  body_framing_invalid: {
    kind: 'invalid_request',
    says: 'transfer-encoding: only "chunked" is supported, and only in HTTP/1.1. Send "transfer-encoding: chunked" or "content-length".',
    client: 'send `content-length`, or `transfer-encoding: chunked`',
  },
  expectation_unknown: {
    kind: 'invalid_request',
    says: 'Leave the "expect" header out, or send "expect: 100-continue".',
    client: 'leave the `expect` header out',
  },
  header_repeated: {
    kind: 'invalid_request',
    says: ({ name }: { name: string }) => `The header "${name}" was sent more than once. Send it once.`,
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
    client: 'use the path that the message names',
  },
  path_escape_invalid: {
    kind: 'invalid_request',
    says: 'The path contains a % that is not part of a valid escape. Write it as %25.',
    client: 'write % as %25',
  },
  origin_not_allowed: {
    kind: 'unknown_path',
    says: ({ origin, path }: { origin: string; path: string }) =>
      `Web pages from the origin ${origin} are not allowed to call ${path}. The operator can allow origins with CORS_ORIGINS, but only for the model endpoints, /v1/models and /v1/usage.`,
    client: 'call from a server, or ask the operator to allow the origin',
    operator: 'Web pages from other origins can call the gateway only if CORS_ORIGINS lists their origin.',
  },
  websocket_not_served: {
    kind: 'unknown_path',
    says: ({ path }: { path: string }) =>
      `${path} is not available over a WebSocket. Send the request over HTTP with POST.`,
    client: 'send the request with POST',
  },
  count_with_conversation_too_large: {
    kind: 'unsupported_parameter',
    says: 'conversation: a request this large cannot be counted together with a conversation. Leave "conversation" out.',
    client: 'leave `conversation` out',
  },
})
