import type { Schema } from '../../api/client.ts'
import type { Texts } from '../../console-search.ts'

type Episode = Pick<Schema<'AlertEpisode'>, 'rule' | 'name' | 'details'>

export interface Way {
  title: string
  to: string
  search?: Texts
}

/** Where somebody looks next: the requests or the thing that an episode is about. */
export function waysOf({ rule, name, details }: Episode): Way[] {
  const text = (of: string) => (typeof details[of] === 'string' ? (details[of] as string) : undefined)
  switch (rule.kind) {
    case 'error_rate':
    case 'latency':
    case 'uncharged': {
      const of = text('of')
      const [from, to] = [text('from'), text('to')]
      const subject = of !== undefined && name.startsWith(`${of} `) ? name.slice(of.length + 1) : undefined
      if (of === undefined || subject === undefined) return []
      return [
        {
          title: rule.kind === 'error_rate' ? 'Its failed requests in the log' : 'Its requests in the log',
          to: '/console/log',
          search: {
            [of === 'model' ? 'requested_model' : of]: subject,
            ...(rule.kind === 'error_rate' ? { outcome: 'failed' } : {}),
            ...(rule.kind === 'uncharged' ? { uncharged: 'true' } : {}),
            ...(from === undefined || to === undefined ? {} : { from, to }),
          },
        },
      ]
    }
    case 'channel_down': {
      const channel = text('channel')
      return [
        { title: 'The channels', to: '/console/channels' },
        ...(channel === undefined
          ? []
          : [{ title: 'Its requests in the log', to: '/console/log', search: { channel } }]),
      ]
    }
    case 'budget': {
      const [of, id] = [text('of'), text('id')]
      return of === undefined || id === undefined ? [] : [{ title: `The ${of}`, to: `/console/${of}s/${id}` }]
    }
    case 'new_network': {
      const [key, address] = [text('key_id'), text('address')]
      if (key === undefined) return []
      return [
        { title: 'The key', to: `/console/keys/${key}` },
        ...(address === undefined
          ? []
          : [
              {
                title: 'Its requests from there',
                to: '/console/log',
                search: { key_id: key, client_address: address },
              },
            ]),
      ]
    }
    case 'ledger_lag':
      return [{ title: 'The ledger', to: '/console/ledger' }]
  }
}

/** What the ways of an episode, its name and its times tell already. */
const told = new Set(['of', 'subject', 'id', 'key_id', 'instance', 'channel', 'from', 'to'])

/** What an episode knows beside its summary: `spent_usd` -> `Spent, USD`. */
export function detailsOf(details: Readonly<Record<string, unknown>>): (readonly [string, string])[] {
  const left = Object.entries(details).filter(([name]) => !told.has(name))
  return left.map(([name, value]) => {
    const title = name
      .replaceAll('_', ' ')
      .replace(/ usd$/, ', USD')
      .replace(/ ms$/, ', ms')
      .replace(/ at$/, '')
    const shown = Array.isArray(value)
      ? value.join(', ')
      : typeof value === 'string' || typeof value === 'number'
        ? String(value)
        : JSON.stringify(value)
    return [`${title[0]?.toUpperCase() ?? ''}${title.slice(1)}`, shown] as const
  })
}

/** A message of an episode, in words. */
export function deliveryWords({
  state,
  tries,
  problem,
}: Schema<'AlertEpisode'>['deliveries'][number]): string {
  const times = tries === 1 ? '1 try' : `${tries} tries`
  const why = problem === null ? '' : `: ${problem}`
  if (state === 'delivered') return `delivered, after ${times}`
  return state === 'failed' ? `not delivered, after ${times}${why}` : `under way, ${times} so far${why}`
}
