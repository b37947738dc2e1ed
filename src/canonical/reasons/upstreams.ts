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
    says: 'The upstream ended its stream before the answer was complete.',
    client: 'try again: what has arrived is not the whole answer',
    operator:
      'The upstream, or a proxy before it, closes streams early. Look at its time limits if it happens after the same time.',
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
      "The answer is not in the format of the channel's `protocols`. Check the base URL, and whether the upstream speaks this format.",
  },
  upstream_event_unreadable: {
    kind: 'upstream_error',
    says: ({ what }: { what: string }) => `The upstream sent ${what}.`,
    client: 'try again; if it stays so, tell the operator',
    operator:
      "The stream is not in the format of the channel's `protocols`. Check the base URL, and whether the upstream streams in this format.",
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
  upstream_image_cut: {
    kind: 'upstream_error',
    says: "The upstream's answer ended in the middle of an image.",
    client: 'try again',
    operator: 'The upstream, or a proxy before it, closes answers early. Look at its time limits.',
  },
  upstream_not_wanted: {
    kind: 'upstream_error',
    fault: 'client',
    says: 'The client went away before anything was sent.',
    client: 'nothing: the client had left',
  },
  upstream_call_abandoned: {
    kind: 'upstream_error',
    fault: 'client',
    says: 'The client went away and the call was ended.',
    client: 'nothing: the client had left',
  },
  upstream_refusal_too_long: {
    kind: 'upstream_error',
    says: 'The upstream refused at length.',
    client: 'try again',
    operator: 'The refusal has more bytes than are read of one; the row has what its beginning says.',
  },
  answer_too_large_to_translate: {
    kind: 'upstream_error',
    fault: 'gateway',
    says: 'The upstream answered with more than this gateway translates.',
    client: 'ask for a shorter answer',
    operator: 'Raise WATCHED_ANSWER_BYTES_MAX, or use a channel that speaks the format of the client.',
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
  upstream_image_text_too_large: {
    kind: 'upstream_error',
    says: ({ bytesMax }: { bytesMax: number }) =>
      `The upstream answered with more than ${bytesMax} bytes beside its images.`,
    client: 'try again',
    operator: "Check that the channel's upstream model makes images in this format.",
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
})
