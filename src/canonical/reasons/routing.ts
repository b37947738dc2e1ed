import { reasonsOf } from './entry.ts'

/** Which models and channels can take a request. */
export const routingReasons = reasonsOf({
  model_unknown: {
    kind: 'model_not_found',
    says: ({ model }: { model: string }) =>
      `Model "${model}" does not exist here. GET /v1/models lists what this key may use.`,
    client: 'use a model that GET /v1/models lists',
  },
  model_forbidden: {
    kind: 'permission_denied',
    says: ({ model }: { model: string }) =>
      `This key may not use model "${model}". GET /v1/models lists what it may use.`,
    client: 'use a model that GET /v1/models lists',
    operator: 'Add the model to `models` of the key or its group.',
  },
  model_without_channel: {
    kind: 'model_not_found',
    says: ({ model }: { model: string }) =>
      `Model "${model}" has no channel that this key may use. GET /v1/models lists what it may.`,
    client: 'use a model that GET /v1/models lists',
    operator: "Give the model a channel that is enabled and open to the key's group.",
  },
  endpoint_not_spoken: {
    kind: 'endpoint_not_supported',
    says: ({ model, spoken }: { model: string; spoken: string }) =>
      `Model "${model}" is not served on this endpoint: its channels speak ${spoken}. GET /v1/models lists each model's endpoints.`,
    client: "use one of the model's endpoints, which GET /v1/models lists",
  },
  vendor_format_not_spoken: {
    kind: 'endpoint_not_supported',
    says: (facts: { model: string; formats: string; channels: string; advice: string }) =>
      `Model "${facts.model}" is served by its vendor only in ${facts.formats}, which none of its channels that this key may use speaks${facts.channels}.${facts.advice}`,
    client: 'use a model or an endpoint that the message names',
    operator: "Add the format that the message names to a channel's `protocols`.",
  },
  model_unable: {
    kind: 'unsupported_parameter',
    says: (facts: { field: string; model: string; lacks: string; advice: string }) =>
      `${facts.field}: model "${facts.model}" ${facts.lacks}.${facts.advice}`,
    client: 'leave the parameter out, or use a model that the message names',
  },
  shared_state: {
    kind: 'unsupported_parameter',
    code: 'shared_state',
    says: ({ path, channels }: { path: string; channels: string }) =>
      `${path}: names what the vendor keeps, and several tenants share its account${channels}, so the gateway cannot know whose it is. Send the content itself, or ask the operator to set shared_state: allow on the channel.`,
    client: 'send the content itself',
    operator:
      'Set `shared_state: allow` on the channel if its tenants may see what the others keep at the vendor.',
  },
  kept_files_not_read: {
    kind: 'unsupported_parameter',
    says: ({ path, who }: { path: string; who: string }) =>
      `${path}: ${who} reads no files that the gateway keeps. Send the bytes of the file in its place.`,
    client: 'send the bytes of the file in its place',
  },
  no_channel_tried: {
    kind: 'unavailable',
    says: 'No channel could be tried.',
    client: 'try again',
    operator:
      'Each channel of the model was passed over; the attempts of the row say why. It needs an enabled channel with a credential that is not cooling down.',
  },
  upstreams_cool_down: {
    kind: 'rate_limited',
    fault: 'upstream',
    says: 'The upstreams of this model limit the rate of requests: try again later.',
    client: 'try again after `retry-after`',
    operator:
      "All credentials of the model's channels cool down after a rate limit of their vendor. Add credentials or channels.",
  },
})
