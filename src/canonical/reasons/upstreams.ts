import { reasonsOf } from './entry.ts'

/** The upstream's own message, or a sentence that contains it. */
const itsWords = ({ message }: { message: string }) => message

/** Failures and refusals of upstreams. */
export const upstreamReasons = reasonsOf({
  upstream_refused_request: {
    kind: 'invalid_request',
    says: itsWords,
    client: "change what the upstream's message names",
  },
  upstream_request_too_large: {
    kind: 'request_too_large',
    says: itsWords,
    client: 'send less, or use a model with a larger limit',
  },
  upstream_model_unknown: {
    kind: 'model_not_found',
    says: itsWords,
    client: 'use another model',
    operator:
      "The channel's upstream does not have this model, or the account has no access to it. Compare the names of the channel's models with the vendor's list; `tollgate doctor` does that for all channels.",
  },
  upstream_content_filtered: {
    kind: 'content_filtered',
    says: itsWords,
    client: 'change the content: the upstream refuses it',
  },
  upstream_rate_limited: {
    kind: 'rate_limited',
    fault: 'upstream',
    says: itsWords,
    client: 'try again after `retry-after`',
    operator:
      "The channel's account has reached its rate limit at the vendor. Add credentials or channels for the model, have the vendor raise the limit, or lower the `limits` of keys.",
  },
  upstream_timed_out: {
    kind: 'upstream_timeout',
    says: itsWords,
    client: 'try again, or request a shorter answer',
    operator:
      'The upstream itself reported a timeout. Check its status page, and add another channel for the model.',
  },
  upstream_overloaded: {
    kind: 'upstream_overloaded',
    says: itsWords,
    client: 'try again later',
    operator:
      'The upstream is out of capacity. Check its status page, and add another channel for the model.',
  },
  upstream_failed: {
    kind: 'upstream_error',
    says: itsWords,
    client: 'try again',
    operator:
      "The upstream returned an error. The attempts of the request show its status, and the log contains the full message. Check the vendor's status page, and add another channel or a fallback for the model.",
  },
  upstream_credential_refused: {
    kind: 'upstream_error',
    says: ({ status }: { status: number | undefined }) =>
      `The upstream refused the gateway's own credential or account${status === undefined ? '' : ` (status ${status})`}. Your key is valid. The gateway's operator has to fix this.`,
    client: 'report it to the operator: your own key is valid',
    operator:
      "The vendor refuses the channel's credential: it is wrong or revoked, or the account has no credit or no access. The log contains the upstream's message. Replace the credential on the channel's page or with `tollgate apply`.",
  },
  upstream_request_unsigned: {
    kind: 'upstream_error',
    says: "The gateway could not sign the request to the upstream. Your key is valid. The gateway's operator has to fix this.",
    client: 'report it to the operator: your own key is valid',
    operator:
      "The channel's credential could not sign a request or obtain a token, so nothing was sent. The log contains the cause.",
  },
  upstream_path_unknown: {
    kind: 'upstream_error',
    says: 'The path that the gateway called does not exist at the upstream. The operator has to correct the base URL.',
    client: 'report it to the operator',
    operator:
      "Correct the channel's base URL, or remove the format that this upstream does not support from `protocols`.",
  },
  upstream_ended_early: {
    kind: 'upstream_error',
    says: 'The upstream ended its answer before it was complete.',
    client: 'try again: the answer received so far is incomplete',
    operator:
      'The upstream, or a proxy in front of it, closes connections early. If that always happens after the same time, check its timeouts.',
  },
  upstream_broke_off: {
    kind: 'upstream_error',
    says: ({ how }: { how: string }) => `The upstream aborted its answer ${how}`,
    client: 'try again',
    operator:
      'The model or its server failed while answering. The message contains the reason that the upstream gave.',
  },
  upstream_answer_empty: {
    kind: 'upstream_error',
    says: 'The upstream sent an empty answer, with no content and no output tokens.',
    client: 'try again',
    operator:
      'An upstream that often sends empty answers is overloaded or misconfigured. Remove the model from its channel.',
  },
  upstream_answer_unreadable: {
    kind: 'upstream_error',
    says: ({ what }: { what: string }) => `The upstream sent ${what}.`,
    client: 'try again; if it happens again, report it to the operator',
    operator:
      "The answer is not in a format listed in the channel's `protocols`. Check the base URL, and check that the upstream supports this format, with streaming too.",
  },
  upstream_event_too_large: {
    kind: 'upstream_error',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `The upstream sent an event of more than ${bytesMax} bytes.`,
    client: 'request a shorter answer',
    operator:
      'WATCHED_ANSWER_BYTES_MAX limits the size of an event. Raise it if the machine has enough memory.',
  },
  upstream_answer_too_large: {
    kind: 'upstream_error',
    fault: 'gateway',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `The upstream's answer is larger than the limit of ${bytesMax} bytes. Request a shorter answer.`,
    client: 'request a shorter answer',
    operator:
      'If the machine has enough memory, raise the limit with this value: WATCHED_ANSWER_BYTES_MAX, IMAGE_ANSWER_BYTES_MAX, or UPSTREAM_FRAME_BYTES_MAX (for WebSocket frames).',
  },
  upstream_answer_untranslatable: {
    kind: 'upstream_error',
    says: ({ what }: { what: string }) => `The upstream answered with ${what}, which cannot be translated.`,
    client: 'do not request such content, or use an endpoint in the format of the upstream',
    operator: "A channel that supports the client's format needs no translation.",
  },
  upstream_call_broken: {
    kind: 'upstream_error',
    says: ({ how }: { how: string }) => `The upstream ${how}`,
    client: 'try again: the model produced a tool call that cannot be run',
    operator:
      'Models sometimes produce invalid tool calls. If a model does so often, check for a newer version of its server.',
  },
  compaction_incomplete: {
    kind: 'upstream_error',
    says: 'The model did not produce a complete summary of the conversation. Try again, or compact it with another model.',
    client: 'try again, or compact with another model',
    operator: 'If this happens often, set another `compact_model` for the group.',
  },
  image_declined: {
    kind: 'content_filtered',
    says: ({ words }: { words: string }) => `The model did not generate an image and answered: ${words}`,
    client: 'change the prompt: the message contains what the model answered',
  },
  image_moderated: {
    kind: 'content_filtered',
    says: "The upstream's moderation blocked the image. Change the prompt.",
    client: 'change the prompt',
  },
  upstream_image_missing: {
    kind: 'upstream_error',
    says: 'The upstream answered without an image.',
    client: 'try again',
    operator: "Check that the channel's upstream model generates images in this format.",
  },
  upstream_image_unreadable: {
    kind: 'upstream_error',
    says: ({ what }: { what: string }) => `The upstream sent ${what}.`,
    client: 'try again',
    operator: "Check that the channel's upstream model generates images in this format.",
  },
  upstream_call_abandoned: {
    kind: 'upstream_error',
    fault: 'client',
    says: 'The client disconnected, so the upstream call was cancelled.',
    client: 'nothing: the client had disconnected',
  },
  upstream_refusal_too_long: {
    kind: 'upstream_error',
    says: "The upstream's error response is too large for the gateway to read.",
    client: 'try again',
    operator: 'The refusal exceeds the length that the gateway reads. The usage log contains its beginning.',
  },
  upstream_answer_unwritable: {
    kind: 'upstream_error',
    says: "The upstream's answer cannot be translated.",
    client: 'try again',
    operator: 'The log contains the cause, which is usually that values are nested too deeply.',
  },
  socket_answer_broke_off: {
    kind: 'upstream_error',
    says: 'The answer ended before it was complete. Send the request again.',
    client: 'send the request again',
    operator: 'The usage log shows why the answer to this request ended.',
  },
  upstream_streams_unasked: {
    kind: 'upstream_error',
    says: 'The upstream streamed its answer although no stream was requested, and the gateway cannot read this stream. Use another model.',
    client: 'use another model',
    operator: 'The upstream always streams. Another channel must serve the model.',
  },
  upstream_image_too_large: {
    kind: 'upstream_error',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `The upstream sent an image of more than ${bytesMax} bytes.`,
    client: 'request a smaller image',
    operator: 'Raise IMAGE_BYTES_MAX to allow images of this size.',
  },
  upstream_image_link_failed: {
    kind: 'upstream_error',
    says: ({ how }: { how: string }) => `The upstream returned a link to its image, which ${how}.`,
    client: 'try again',
    operator:
      'The linked image could not be downloaded. Configure the upstream to send base64, or allow the link as described in the message.',
  },
  upstream_unreachable: {
    kind: 'upstream_error',
    says: 'The upstream could not be reached.',
    client: 'try again, or another model',
    operator:
      'The host name does not resolve, the address refuses connections or is private (`allow_private_address`), or TLS fails. The log contains the cause. `tollgate doctor` tests all channels.',
  },
  upstream_connect_timed_out: {
    kind: 'upstream_timeout',
    says: 'The upstream could not be reached in time.',
    client: 'try again, or another model',
    operator:
      'No connection was established within UPSTREAM_CONNECT_MS. Check the network and the firewall between the gateway and the upstream.',
  },
  upstream_proxy_failed: {
    kind: 'upstream_error',
    says: ({ how }: { how: string }) => `The upstream could not be reached: the proxy in front of it ${how}.`,
    client: 'try again later',
    operator: "The `proxy` in the channel's `connection` blocks the connection. Check the proxy's log.",
  },
  upstream_connection_broke: {
    kind: 'upstream_error',
    says: 'The connection to the upstream was lost.',
    client: 'try again',
    operator:
      'The upstream, or something between it and the gateway, closed the connection. The log contains the cause.',
  },
  upstream_answer_late: {
    kind: 'upstream_timeout',
    says: 'The upstream did not start its answer in time.',
    client: 'try again, or another model',
    operator:
      "No data arrived within UPSTREAM_FIRST_BYTE_MS. Raise it, or have the client use streaming. A channel's `connection` can set its own `timeouts`.",
  },
  upstream_stalled: {
    kind: 'upstream_timeout',
    says: 'The upstream stopped sending in the middle of its answer.',
    client: 'try again',
    operator:
      "No more data arrived within UPSTREAM_IDLE_MS. A channel's `connection` can set its own `timeouts`.",
  },
  upstream_too_slow: {
    kind: 'upstream_timeout',
    says: ({ totalMs }: { totalMs: number }) => `The upstream call took longer than ${totalMs} ms in total.`,
    client: 'request a shorter answer',
    operator:
      "The whole call took longer than UPSTREAM_TOTAL_MS. A channel's `connection` can set its own `timeouts`.",
  },
  upstream_dropped_at_exit: {
    kind: 'upstream_error',
    fault: 'gateway',
    says: 'This gateway process is shutting down and has closed its connection to the upstream.',
    client: 'try again',
    operator:
      'A process ended while answers were still running. It waits up to DRAIN_ON_SHUTDOWN_MS for them.',
  },
  upstream_http_invalid: {
    kind: 'upstream_error',
    says: ({ how }: { how: string }) => `The upstream ${how}.`,
    client: 'try again later',
    operator:
      "The upstream, or a proxy in front of it, violates HTTP as described in the message; or a different server answers at the channel's base URL; or https:// and http:// are mixed up.",
  },
  upstream_not_json: {
    kind: 'upstream_error',
    says: 'The upstream answered with something that is not complete JSON.',
    client: 'try again',
    operator:
      "Something other than the API answers at the channel's base URL, often a proxy with a web page.",
  },
  upstream_redirected: {
    kind: 'upstream_error',
    says: ({ status }: { status: number }) =>
      `The upstream answered with a redirect (status ${status}), which the gateway never follows. The operator has to correct the base URL.`,
    client: 'try again later',
    operator: "Set the channel's base URL to the target of the redirect.",
  },
  upstream_upgrade_refused: {
    kind: 'upstream_error',
    says: ({ status }: { status: number }) =>
      `The upstream refused the WebSocket upgrade with status ${status}.`,
    client: 'try again later',
    operator:
      "The upstream does not accept WebSockets at this path. Remove `websocket` from the channel's `connection`.",
  },
  upstream_frame_invalid: {
    kind: 'upstream_error',
    says: ({ what }: { what: string }) => `The upstream sent ${what}.`,
    client: 'try again',
    operator:
      "The upstream's WebSocket, or a proxy in front of it, does not use the Responses format. Remove `websocket` from the channel's `connection`.",
  },
  upstream_count_missing: {
    kind: 'upstream_error',
    says: "The upstream's answer does not contain a token count.",
    client: 'try again later',
    operator: "The upstream's endpoint for counting tokens returns something else.",
  },
  upstream_model_list_refused: {
    kind: 'upstream_error',
    says: ({ status, moved }: { status: number; moved: string }) =>
      `The upstream answered with status ${status}${moved}.`,
    client: 'nothing: only admins see it',
    operator: 'GET /admin/v1/channels/{id}/upstream-models and the log show what the upstream answered.',
  },
  upstream_model_list_invalid: {
    kind: 'upstream_error',
    says: 'The upstream did not return a list of models.',
    client: 'nothing: only admins see it',
    operator: "The channel's base URL is wrong, or the vendor lists models in another format.",
  },
  upstream_model_list_too_large: {
    kind: 'upstream_error',
    says: ({ bytesMax }: { bytesMax: number }) => `The list of models is larger than ${bytesMax} bytes.`,
    client: 'nothing: only admins see it',
    operator: 'Raise MODEL_LIST_BYTES_MAX if the list really is this long.',
  },
  upstream_model_list_late: {
    kind: 'upstream_timeout',
    says: 'The list of models did not arrive in time.',
    client: 'nothing: only admins see it',
    operator: 'The list did not arrive within MODEL_LIST_MS.',
  },
  upstream_has_no_model_list: {
    kind: 'upstream_error',
    says: "None of this channel's formats provides a list of models.",
    client: 'nothing: only admins see it',
    operator: "Add the channel's models to gateway.yaml, or add them manually.",
  },
})
