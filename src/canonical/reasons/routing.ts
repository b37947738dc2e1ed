import { reasonsOf } from './entry.ts'

/** Refusals because no model or channel can serve a request. */
export const routingReasons = reasonsOf({
  model_unknown: {
    kind: 'model_not_found',
    says: ({ model }: { model: string }) =>
      `Model "${model}" does not exist. GET /v1/models lists the models that this key can use.`,
    client: 'use a model that GET /v1/models lists',
    operator: 'Check that `models` contains exactly this id.',
  },
  model_forbidden: {
    kind: 'permission_denied',
    says: ({ model }: { model: string }) =>
      `This key is not allowed to use model "${model}". GET /v1/models lists the models that it can use.`,
    client: 'use a model that GET /v1/models lists',
    operator:
      "Add the model to `models` of the key's group, and to `allowed_models` of the key if it is set.",
  },
  model_without_channel: {
    kind: 'model_not_found',
    says: ({ model }: { model: string }) =>
      `Model "${model}" has no upstream that this key can use. GET /v1/models lists the models that it can use.`,
    client: 'use a model that GET /v1/models lists',
    operator: "Add the model to a channel that is enabled and available to the key's group.",
  },
  channels_blocked: {
    kind: 'unavailable',
    says: ({ model }: { model: string }) =>
      `Model "${model}" is not available at the moment: the operator has taken its upstream out of use. Use another model, or try again later.`,
    client: 'use another model, or try again later',
    operator:
      'A person has blocked each channel that could serve the request; the attempts of the request name them, and `blocked` of a channel says who, when and why. Only a person can lift it, in the console or with `tollgate channels unblock`.',
  },
  endpoint_not_spoken: {
    kind: 'endpoint_not_supported',
    says: ({ model, spoken }: { model: string; spoken: string }) =>
      `Model "${model}" is not available on this endpoint: its upstreams support ${spoken}. GET /v1/models lists the endpoints of each model.`,
    client: "use one of the model's endpoints, which GET /v1/models lists",
    operator:
      "Add the endpoint's format to `protocols` of one of the model's channels, if its upstream supports it.",
  },
  vendor_format_not_spoken: {
    kind: 'endpoint_not_supported',
    says: (facts: { model: string; formats: string; channels: string; advice: string }) =>
      `Model "${facts.model}" is offered by its vendor only in ${facts.formats}, which no upstream that this key can use supports${facts.channels}.${facts.advice}`,
    client: 'use a model or an endpoint that the message names',
    operator:
      "Add a format that the message names to `protocols` of one of the model's channels. If the vendor supports other formats, correct the model's `traits.protocols`.",
  },
  model_unable: {
    kind: 'unsupported_parameter',
    says: (facts: { field: string; model: string; lacks: string; advice: string }) =>
      `${facts.field}: model "${facts.model}" ${facts.lacks}.${facts.advice}`,
    client: 'leave the parameter out, or use a model that the message names',
    operator:
      "If the model supports it, correct its `traits`. Traits that are not configured may have been learned from an upstream's refusal (see GET /admin/v1/verdicts).",
  },
  shared_state: {
    kind: 'unsupported_parameter',
    code: 'shared_state',
    says: ({ path, channels }: { path: string; channels: string }) =>
      `${path}: refers to something stored at the vendor, in an account that several tenants of this gateway share${channels}, so the gateway cannot tell which tenant it belongs to. Send the content itself, or ask the operator to set shared_state: allow on the channel.`,
    client: 'send the content itself',
    operator:
      "Set `shared_state: allow` on the channel if its tenants may see each other's data at the vendor.",
  },
  kept_files_not_read: {
    kind: 'unsupported_parameter',
    says: ({ path, where }: { path: string; where: string }) =>
      `${path}: files stored by the gateway cannot be used ${where}. Send the file's content instead.`,
    client: 'send the content of the file instead',
  },
  no_channel_tried: {
    kind: 'unavailable',
    says: "None of this model's upstreams is available at the moment. Try again.",
    client: 'try again',
    operator:
      'Every channel of the model was skipped; the attempts of the request show why. The model needs an enabled channel with a credential that is not cooling down.',
  },
  upstreams_cool_down: {
    kind: 'rate_limited',
    fault: 'upstream',
    says: 'The upstreams of this model are rate limiting the gateway. Try again later.',
    client: 'try again after `retry-after`',
    operator:
      "All credentials of the model's channels are cooling down after reaching a vendor's rate limit. Add credentials, channels or a fallback, or ask the vendor for a higher limit.",
  },
})
