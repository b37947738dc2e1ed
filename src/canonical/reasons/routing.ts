import { reasonsOf } from './entry.ts'

/** Which models and channels can take a request. */
export const routingReasons = reasonsOf({
  model_unknown: {
    kind: 'model_not_found',
    says: ({ model }: { model: string }) =>
      `Model "${model}" does not exist here. GET /v1/models lists what this key may use.`,
    client: 'use a model that GET /v1/models lists',
    operator: 'Check that `models` has exactly this id.',
  },
  model_forbidden: {
    kind: 'permission_denied',
    says: ({ model }: { model: string }) =>
      `This key may not use model "${model}". GET /v1/models lists what it may use.`,
    client: 'use a model that GET /v1/models lists',
    operator:
      "Add the model to `models` of the key's group, and to `allowed_models` of the key if it has them.",
  },
  model_without_channel: {
    kind: 'model_not_found',
    says: ({ model }: { model: string }) =>
      `Model "${model}" has no upstream that this key may use. GET /v1/models lists what it may use.`,
    client: 'use a model that GET /v1/models lists',
    operator: "Give the model a channel that is enabled and open to the key's group.",
  },
  endpoint_not_spoken: {
    kind: 'endpoint_not_supported',
    says: ({ model, spoken }: { model: string; spoken: string }) =>
      `Model "${model}" is not served on this endpoint: its upstreams speak ${spoken}. GET /v1/models lists each model's endpoints.`,
    client: "use one of the model's endpoints, which GET /v1/models lists",
    operator:
      "Add the endpoint's format to `protocols` of a channel of the model, if its upstream speaks it.",
  },
  vendor_format_not_spoken: {
    kind: 'endpoint_not_supported',
    says: (facts: { model: string; formats: string; channels: string; advice: string }) =>
      `Model "${facts.model}" is served by its vendor only in ${facts.formats}, which no upstream that this key may use speaks${facts.channels}.${facts.advice}`,
    client: 'use a model or an endpoint that the message names',
    operator:
      "Add a format that the message names to `protocols` of a channel of the model. If the vendor has other formats, correct the model's `traits.protocols`.",
  },
  model_unable: {
    kind: 'unsupported_parameter',
    says: (facts: { field: string; model: string; lacks: string; advice: string }) =>
      `${facts.field}: model "${facts.model}" ${facts.lacks}.${facts.advice}`,
    client: 'leave the parameter out, or use a model that the message names',
    operator:
      "If the model can do it, correct its `traits`: what they do not state may have been learned from an upstream's refusal (GET /admin/v1/verdicts).",
  },
  shared_state: {
    kind: 'unsupported_parameter',
    code: 'shared_state',
    says: ({ path, channels }: { path: string; channels: string }) =>
      `${path}: names something that the vendor stores, in an account that several tenants of this gateway share${channels}, so the gateway cannot know whose it is. Send the content itself, or ask the operator to set shared_state: allow on the channel.`,
    client: 'send the content itself',
    operator:
      'Set `shared_state: allow` on the channel if its tenants may see what the others store at the vendor.',
  },
  kept_files_not_read: {
    kind: 'unsupported_parameter',
    says: ({ path, who }: { path: string; who: string }) =>
      `${path}: ${who} cannot read files that the gateway stores. Send the bytes of the file instead.`,
    client: 'send the bytes of the file instead',
  },
  no_channel_tried: {
    kind: 'unavailable',
    says: 'No upstream of this model could be tried. Try again.',
    client: 'try again',
    operator:
      'Every channel of the model was passed over: the attempts of the request say why. It needs an enabled channel with a credential that is not cooling down.',
  },
  upstreams_cool_down: {
    kind: 'rate_limited',
    fault: 'upstream',
    says: 'The upstreams of this model limit the rate of requests. Try again later.',
    client: 'try again after `retry-after`',
    operator:
      "All credentials of the model's channels are cooling down after a rate limit of their vendor. Add credentials, channels or a fallback, or ask the vendor for more.",
  },
})
