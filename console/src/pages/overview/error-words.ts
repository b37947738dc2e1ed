import type { Schema } from '../../api/client.ts'
import type { Texts } from '../../console-search.ts'
import type { Tone } from '../../parts/tone.ts'

type ErrorGroup = Pick<
  Schema<'LogErrors'>['data'][number],
  'kind' | 'reason' | 'endpoint' | 'channel' | 'upstream_status'
>

/** `queue_full`, or `upstream_refused_request: 400`, with the status that the upstream gave. */
export function errorWords({ kind, reason, upstream_status }: ErrorGroup): string {
  const word = reason ?? kind
  return upstream_status === null ? word : `${word}: ${upstream_status}`
}

/** Those that are not the client's to mend. */
const ours = new Set(['upstream_error', 'upstream_overloaded', 'upstream_timeout', 'unavailable', 'internal'])

export function errorTone({ kind }: ErrorGroup): Tone {
  return ours.has(kind) ? 'bad' : 'warning'
}

/** What finds the requests of a group in the log. A member's groups have all channels and upstreams. */
export function errorFilter(
  { kind, reason, endpoint, channel, upstream_status }: ErrorGroup,
  isMember: boolean,
): Texts {
  return {
    ...(reason === null ? { error_kind: kind } : { error_reason: reason }),
    ...(endpoint === null ? {} : { endpoint }),
    ...(isMember
      ? {}
      : { channel: channel ?? '', upstream_status: upstream_status === null ? '' : String(upstream_status) }),
  }
}
