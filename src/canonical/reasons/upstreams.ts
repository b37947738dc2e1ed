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
      "The upstream answered with an error of its own. The attempts of the row have its status; the log has all of its words. Look at the vendor's status page.",
  },
  upstream_credential_refused: {
    kind: 'upstream_error',
    says: ({ status }: { status: number | undefined }) =>
      `The upstream refused the gateway's own credential or account for this channel${status === undefined ? '' : ` (status ${status})`}; your key is fine. The gateway's operator has to look at the channel.`,
    client: 'tell the operator: your own key is fine',
    operator:
      "The vendor refuses the channel's credential: it is revoked or wrong, or the account is without credit or access. The log has the upstream's words. Replace the credential on the channel's page, or with `tollgate apply`.",
  },
  upstream_path_unknown: {
    kind: 'upstream_error',
    says: 'The upstream does not know this path: check its base URL.',
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
    says: 'The upstream answered with nothing: no content, and no tokens of output.',
    client: 'try again',
    operator:
      'An upstream that often answers with nothing is overloaded or misconfigured: take its channel away from the model.',
  },
  upstream_answer_unreadable: {
    kind: 'upstream_error',
    says: ({ what }: { what: string }) => `The upstream sent ${what}.`,
    client: 'try again; if it stays so, tell the operator',
    operator:
      "The answer is not in the format of the channel's `protocols`. Check the base URL, and whether the upstream speaks this format, also when it streams.",
  },
  upstream_event_too_large: {
    kind: 'upstream_error',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `The upstream sent an event of more than ${bytesMax} bytes.`,
    client: 'ask for a shorter answer',
    operator:
      'An event of a stream may have as many bytes as WATCHED_ANSWER_BYTES_MAX at most: raise it where the machine has memory.',
  },
  upstream_answer_too_large: {
    kind: 'upstream_error',
    fault: 'gateway',
    says: ({ bytesMax }: { bytesMax: number }) => `The upstream answered with more than ${bytesMax} bytes.`,
    client: 'ask for a shorter answer',
    operator:
      'Raise UPSTREAM_FRAME_BYTES_MAX (a frame of a WebSocket), IMAGE_ANSWER_BYTES_MAX or WATCHED_ANSWER_BYTES_MAX, whichever the message names, where the machine has memory.',
  },
  upstream_answer_untranslatable: {
    kind: 'upstream_error',
    says: ({ what }: { what: string }) => `The upstream answered with ${what}, which cannot be translated.`,
    client: 'ask in the format of the upstream, or do not ask for such content',
    operator: 'A channel that speaks the format of the client needs no translation.',
  },
  upstream_call_broken: {
    kind: 'upstream_error',
    says: ({ how }: { how: string }) => `The upstream ${how}`,
    client: 'try again: the model called a tool in a way that cannot be run',
    operator:
      'Models call tools badly now and then. If one does it often, look for a newer version of its server.',
  },
  compaction_incomplete: {
    kind: 'upstream_error',
    says: 'The model gave no whole summary of the conversation. Try again, or compact it with another model.',
    client: 'try again, or compact with another model',
  },
  image_declined: {
    kind: 'content_filtered',
    says: ({ words }: { words: string }) => `The model made no image and answered: ${words}`,
    client: 'change the prompt: the message has what the model answered',
  },
  image_moderated: {
    kind: 'content_filtered',
    says: "The upstream's moderation held the image back: change the prompt.",
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
    says: 'The client went away and the call was ended.',
    client: 'nothing: the client had left',
  },
  upstream_refusal_too_long: {
    kind: 'upstream_error',
    says: "The upstream's refusal is too long to read.",
    client: 'try again',
    operator: 'The refusal has more bytes than are read of one; the row has what its beginning says.',
  },
  upstream_answer_unwritable: {
    kind: 'upstream_error',
    says: 'The answer of the upstream cannot be translated.',
    client: 'try again',
    operator: 'The log has the cause: mostly values that are nested too deeply.',
  },
  socket_answer_broke_off: {
    kind: 'upstream_error',
    says: 'The answer broke off. Send the request again.',
    client: 'send the request again',
    operator: 'The row of the request has the reason why its answer ended.',
  },
  upstream_streams_unasked: {
    kind: 'upstream_error',
    says: 'The upstream streams its answer although we did not ask for a stream.',
    client: 'ask for a stream',
    operator:
      'The upstream streams whatever it is asked. Clients have to send `"stream": true`, or use another channel.',
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
      'The name does not resolve, or the address refuses connections: the log has the cause. Check the base URL of the channel with `tollgate doctor`.',
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
    operator: 'The upstream, or something between, closed the connection: the log has the cause.',
  },
  upstream_answer_late: {
    kind: 'upstream_timeout',
    says: 'The upstream did not begin to answer in time.',
    client: 'try again, or another model',
    operator:
      'Nothing came within UPSTREAM_FIRST_BYTE_MS. The `connection` of a channel may have `timeouts` of its own.',
  },
  upstream_stalled: {
    kind: 'upstream_timeout',
    says: 'The upstream stopped in the middle of its answer.',
    client: 'try again',
    operator:
      'Nothing more came within UPSTREAM_IDLE_MS. The `connection` of a channel may have `timeouts` of its own.',
  },
  upstream_too_slow: {
    kind: 'upstream_timeout',
    says: ({ totalMs }: { totalMs: number }) => `The upstream took longer than ${totalMs} ms in all.`,
    client: 'ask for a shorter answer',
    operator:
      'The whole call took longer than UPSTREAM_TOTAL_MS. The `connection` of a channel may have `timeouts` of its own.',
  },
  upstream_dropped_at_exit: {
    kind: 'upstream_error',
    fault: 'gateway',
    says: 'This gateway process is shutting down and closed its connection to the upstream.',
    client: 'try again',
    operator: 'A process ended with answers still running: DRAIN_MS is how long it waits for them.',
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
    says: 'The upstream answered with something that is not a whole JSON document.',
    client: 'try again',
    operator:
      'Something other than the API answers at the base URL of the channel: often a web page of a proxy.',
  },
  upstream_redirected: {
    kind: 'upstream_error',
    says: ({ status }: { status: number }) =>
      `The upstream answered with a redirect (status ${status}), which is never followed: the base URL of the channel has to name the place itself.`,
    client: 'try again later',
    operator: 'Set the base URL of the channel to the place that the redirect leads to.',
  },
  upstream_upgrade_refused: {
    kind: 'upstream_error',
    says: ({ status }: { status: number }) =>
      `The upstream answered the upgrade to a WebSocket with status ${status}.`,
    client: 'try again later',
    operator:
      'The upstream takes no WebSocket at this path: take `websocket` out of the `connection` of the channel.',
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
    says: ({ bytesMax }: { bytesMax: number }) => `The list has more than ${bytesMax} bytes.`,
    client: 'nothing: only admins see it',
    operator: 'Raise MODEL_LIST_BYTES_MAX if the list is really this long.',
  },
  upstream_model_list_late: {
    kind: 'upstream_timeout',
    says: 'The list of models took too long.',
    client: 'nothing: only admins see it',
    operator: 'The list did not come within MODEL_LIST_MS.',
  },
  upstream_has_no_model_list: {
    kind: 'upstream_error',
    says: 'The channel speaks no protocol with lists of models.',
    client: 'nothing: only admins see it',
    operator: 'Write the models of the channel into gateway.yaml, or add them by hand.',
  },
})
