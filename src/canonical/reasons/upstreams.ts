import { reasonsOf } from './entry.ts'

/** The upstream's own words, or a sentence with them. */
const itsWords = ({ message }: { message: string }) => message

/** What an upstream did, or failed to do. */
export const upstreamReasons = reasonsOf({
  upstream_refused_request: {
    kind: 'invalid_request',
    says: itsWords,
    client: "change what the upstream's message names",
  },
  upstream_request_too_large: {
    kind: 'request_too_large',
    says: itsWords,
    client: 'send less, or use a model that takes more',
  },
  upstream_model_unknown: {
    kind: 'model_not_found',
    says: itsWords,
    client: 'use another model',
    operator:
      "The channel's upstream has no such model, or its account may not use it. Compare the names of the channel's models with the vendor's list; `tollgate doctor` does that for all channels.",
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
      "The channel's account has reached its rate at the vendor. Add credentials or channels for the model, have the vendor raise the rate, or give keys lower `limits`.",
  },
  upstream_timed_out: {
    kind: 'upstream_timeout',
    says: itsWords,
    client: 'try again, or ask for a shorter answer',
    operator:
      'The upstream itself gave up waiting. Look at its status page, and let another channel serve the model.',
  },
  upstream_overloaded: {
    kind: 'upstream_overloaded',
    says: itsWords,
    client: 'try again later',
    operator:
      'The upstream has no capacity. Look at its status page, and let another channel serve the model.',
  },
  upstream_failed: {
    kind: 'upstream_error',
    says: itsWords,
    client: 'try again',
    operator:
      "The upstream answered with an error of its own: the attempts of the request have its status, and the log has its whole message. Look at the vendor's status page; let another channel, or a fallback, serve the model.",
  },
  upstream_credential_refused: {
    kind: 'upstream_error',
    says: ({ status }: { status: number | undefined }) =>
      `The upstream refused the gateway's own credential or account${status === undefined ? '' : ` (status ${status})`}; your key is fine. The gateway's operator has to correct this.`,
    client: 'tell the operator: your own key is fine',
    operator:
      "The vendor refuses the channel's credential: it is revoked or wrong, or the account is without credit or access. The log has the upstream's message. Replace the credential on the channel's page, or with `tollgate apply`.",
  },
  upstream_path_unknown: {
    kind: 'upstream_error',
    says: 'The upstream does not know the path that the gateway called. The operator has to correct the base URL.',
    client: 'tell the operator',
    operator:
      "Correct the channel's base URL, or remove the format that this upstream does not speak from its `protocols`.",
  },
  upstream_ended_early: {
    kind: 'upstream_error',
    says: 'The upstream ended its answer before it was complete.',
    client: 'try again: what has arrived is not the whole answer',
    operator:
      'The upstream, or a proxy before it, closes answers early. Look at its time limits if it happens after the same time.',
  },
  upstream_broke_off: {
    kind: 'upstream_error',
    says: ({ how }: { how: string }) => `The upstream broke off its answer ${how}`,
    client: 'try again',
    operator:
      'The model or its server failed while answering; the message has the word that the upstream gave for it.',
  },
  upstream_answer_empty: {
    kind: 'upstream_error',
    says: 'The upstream sent an empty answer: no content, and no output tokens.',
    client: 'try again',
    operator:
      'An upstream that often sends empty answers is overloaded or misconfigured: take its channel away from the model.',
  },
  upstream_answer_unreadable: {
    kind: 'upstream_error',
    says: ({ what }: { what: string }) => `The upstream sent ${what}.`,
    client: 'try again; if it happens again, tell the operator',
    operator:
      "The answer is not in the format of the channel's `protocols`. Check the base URL, and whether the upstream speaks this format, also when it streams.",
  },
  upstream_event_too_large: {
    kind: 'upstream_error',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `The upstream sent an event of more than ${bytesMax} bytes.`,
    client: 'ask for a shorter answer',
    operator:
      'An event of a stream may have WATCHED_ANSWER_BYTES_MAX at most: raise it if the machine has memory.',
  },
  upstream_answer_too_large: {
    kind: 'upstream_error',
    fault: 'gateway',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `The upstream answered with more than ${bytesMax} bytes. Ask for a shorter answer.`,
    client: 'ask for a shorter answer',
    operator:
      'Raise the bound that has this value if the machine has memory: WATCHED_ANSWER_BYTES_MAX, IMAGE_ANSWER_BYTES_MAX, or UPSTREAM_FRAME_BYTES_MAX (a frame of a WebSocket).',
  },
  upstream_answer_untranslatable: {
    kind: 'upstream_error',
    says: ({ what }: { what: string }) => `The upstream answered with ${what}, which cannot be translated.`,
    client: 'do not ask for such content, or use an endpoint in the format of the upstream',
    operator: 'A channel that speaks the format of the client needs no translation.',
  },
  upstream_call_broken: {
    kind: 'upstream_error',
    says: ({ how }: { how: string }) => `The upstream ${how}`,
    client: 'try again: the model called a tool in a way that cannot be run',
    operator:
      'Models sometimes produce broken tool calls. If one often does, look for a newer version of its server.',
  },
  compaction_incomplete: {
    kind: 'upstream_error',
    says: 'The model gave no complete summary of the conversation. Try again, or compact it with another model.',
    client: 'try again, or compact with another model',
    operator: 'If it happens often, set another `compact_model` for the group.',
  },
  image_declined: {
    kind: 'content_filtered',
    says: ({ words }: { words: string }) => `The model made no image and answered: ${words}`,
    client: 'change the prompt: the message has what the model answered',
  },
  image_moderated: {
    kind: 'content_filtered',
    says: "The upstream's moderation held the image back. Change the prompt.",
    client: 'change the prompt',
  },
  upstream_image_missing: {
    kind: 'upstream_error',
    says: 'The upstream answered without an image.',
    client: 'try again',
    operator: "Check that the channel's upstream model makes images in this format.",
  },
  upstream_image_unreadable: {
    kind: 'upstream_error',
    says: ({ what }: { what: string }) => `The upstream sent ${what}.`,
    client: 'try again',
    operator: "Check that the channel's upstream model makes images in this format.",
  },
  upstream_call_abandoned: {
    kind: 'upstream_error',
    fault: 'client',
    says: 'The client disconnected, so the call was ended.',
    client: 'nothing: the client had disconnected',
  },
  upstream_refusal_too_long: {
    kind: 'upstream_error',
    says: "The upstream's refusal is too long to read.",
    client: 'try again',
    operator: 'The refusal is longer than what is read of one. The usage log has what its beginning says.',
  },
  upstream_answer_unwritable: {
    kind: 'upstream_error',
    says: 'The answer of the upstream cannot be translated.',
    client: 'try again',
    operator: 'The log has the cause: usually values that are nested too deeply.',
  },
  socket_answer_broke_off: {
    kind: 'upstream_error',
    says: 'The answer broke off. Send the request again.',
    client: 'send the request again',
    operator: 'The usage log says why the answer of this request ended.',
  },
  upstream_streams_unasked: {
    kind: 'upstream_error',
    says: 'The upstream streams its answer although no stream was asked for. Send "stream": true.',
    client: 'ask for a stream',
    operator:
      'The upstream always streams. Clients have to send `"stream": true`, or another channel has to serve the model.',
  },
  upstream_image_too_large: {
    kind: 'upstream_error',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `The upstream answered with an image of more than ${bytesMax} bytes.`,
    client: 'ask for a smaller image',
    operator: 'Raise IMAGE_BYTES_MAX if images may be this large.',
  },
  upstream_image_link_failed: {
    kind: 'upstream_error',
    says: ({ how }: { how: string }) => `The upstream gave a link to its image, which ${how}.`,
    client: 'try again',
    operator:
      'The image behind the link could not be fetched. Have the upstream send base64, or allow the link as the message says.',
  },
  upstream_unreachable: {
    kind: 'upstream_error',
    says: 'The upstream could not be reached.',
    client: 'try again, or another model',
    operator:
      'The name does not resolve, the address refuses connections or is private (`allow_private_address`), or TLS fails: the log has the cause. `tollgate doctor` tries all channels.',
  },
  upstream_connect_timed_out: {
    kind: 'upstream_timeout',
    says: 'The upstream could not be reached in time.',
    client: 'try again, or another model',
    operator:
      'No connection within UPSTREAM_CONNECT_MS: check the network and the firewall between the gateway and the upstream.',
  },
  upstream_proxy_failed: {
    kind: 'upstream_error',
    says: ({ how }: { how: string }) => `The upstream could not be reached: the proxy before it ${how}.`,
    client: 'try again later',
    operator:
      'The `proxy` in the `connection` of the channel does not let the connection through: see its own log.',
  },
  upstream_connection_broke: {
    kind: 'upstream_error',
    says: 'The connection to the upstream was lost.',
    client: 'try again',
    operator: 'The upstream, or something on the way to it, closed the connection: the log has the cause.',
  },
  upstream_answer_late: {
    kind: 'upstream_timeout',
    says: 'The upstream did not begin to answer in time.',
    client: 'try again, or another model',
    operator:
      'Nothing came within UPSTREAM_FIRST_BYTE_MS. Raise it, or have the client stream. The `connection` of a channel may have its own `timeouts`.',
  },
  upstream_stalled: {
    kind: 'upstream_timeout',
    says: 'The upstream stopped in the middle of its answer.',
    client: 'try again',
    operator:
      'Nothing more came within UPSTREAM_IDLE_MS. The `connection` of a channel may have its own `timeouts`.',
  },
  upstream_too_slow: {
    kind: 'upstream_timeout',
    says: ({ totalMs }: { totalMs: number }) => `The upstream took longer than ${totalMs} ms in all.`,
    client: 'ask for a shorter answer',
    operator:
      'The whole call took longer than UPSTREAM_TOTAL_MS. The `connection` of a channel may have its own `timeouts`.',
  },
  upstream_dropped_at_exit: {
    kind: 'upstream_error',
    fault: 'gateway',
    says: 'This gateway process is shutting down and closed its connection to the upstream.',
    client: 'try again',
    operator: 'A process ended while answers were running. It waits for them for DRAIN_ON_SHUTDOWN_MS.',
  },
  upstream_http_invalid: {
    kind: 'upstream_error',
    says: ({ how }: { how: string }) => `The upstream ${how}.`,
    client: 'try again later',
    operator:
      'The upstream, or a proxy before it, breaks HTTP as the message says; or something else answers at the base URL of the channel, or https:// and http:// are mixed up.',
  },
  upstream_not_json: {
    kind: 'upstream_error',
    says: 'The upstream answered with something that is not complete JSON.',
    client: 'try again',
    operator:
      'Something other than the API answers at the base URL of the channel: often a web page of a proxy.',
  },
  upstream_redirected: {
    kind: 'upstream_error',
    says: ({ status }: { status: number }) =>
      `The upstream answered with a redirect (status ${status}), which is never followed. The operator has to correct the base URL.`,
    client: 'try again later',
    operator: 'Set the base URL of the channel to where the redirect leads.',
  },
  upstream_upgrade_refused: {
    kind: 'upstream_error',
    says: ({ status }: { status: number }) =>
      `The upstream answered the upgrade to a WebSocket with status ${status}.`,
    client: 'try again later',
    operator:
      'The upstream accepts no WebSocket at this path: take `websocket` out of the `connection` of the channel.',
  },
  upstream_frame_invalid: {
    kind: 'upstream_error',
    says: ({ what }: { what: string }) => `The upstream sent ${what}.`,
    client: 'try again',
    operator:
      'Its WebSocket, or a proxy before it, does not speak the Responses format: take `websocket` out of the `connection` of the channel.',
  },
  upstream_count_missing: {
    kind: 'upstream_error',
    says: 'The upstream answered without a number of tokens.',
    client: 'try again later',
    operator: 'The upstream answers its path for counting tokens with something else.',
  },
  upstream_model_list_refused: {
    kind: 'upstream_error',
    says: ({ status, moved }: { status: number; moved: string }) =>
      `The upstream answered with status ${status}${moved}.`,
    client: 'nothing: only admins see it',
    operator: 'GET /admin/v1/channels/{id}/upstream-models and the log have what the upstream said.',
  },
  upstream_model_list_invalid: {
    kind: 'upstream_error',
    says: 'The upstream did not answer with a list of models.',
    client: 'nothing: only admins see it',
    operator: 'The base URL of the channel leads elsewhere, or its vendor lists models in another format.',
  },
  upstream_model_list_too_large: {
    kind: 'upstream_error',
    says: ({ bytesMax }: { bytesMax: number }) => `The list of models has more than ${bytesMax} bytes.`,
    client: 'nothing: only admins see it',
    operator: 'Raise MODEL_LIST_BYTES_MAX if the list really is this long.',
  },
  upstream_model_list_late: {
    kind: 'upstream_timeout',
    says: 'The list of models took too long.',
    client: 'nothing: only admins see it',
    operator: 'The list did not come within MODEL_LIST_MS.',
  },
  upstream_has_no_model_list: {
    kind: 'upstream_error',
    says: 'None of the formats of this channel has a list of models.',
    client: 'nothing: only admins see it',
    operator: 'Write the models of the channel into gateway.yaml, or add them by hand.',
  },
})
