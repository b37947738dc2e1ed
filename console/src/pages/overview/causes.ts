import type { Schema } from '../../api/client.ts'
import { moment } from '../../format/moments.ts'
import { count, share } from '../../format/numbers.ts'
import { onlyChannelWords } from '../channels/only-channel.ts'
import type { Sums } from './overview-query.ts'

type Health = Schema<'Health'>
type Episode = Schema<'AlertEpisodeList'>['data'][number]
type Problem = Health['problems'][number]

/** One thing that is wrong, in a line, with what it is made of. */
export interface Cause {
  /** Of its kind: there is one of each. */
  id: string
  tone: 'bad' | 'warning' | 'good'
  /** `3 channels are down: a, b, c.` */
  title: string
  /** Why, since when, and what has no other channel; empty where `title` says so. */
  why: string
  /** What it does to requests; empty: nothing that is known. */
  effect: string
  details: readonly Detail[]
  /** Names of the channels that it is about. */
  channels: readonly string[]
}

export interface Detail {
  id: string
  /** What it is about; empty where `words` say so. */
  name: string
  words: string
  since: string | null
  way: { to: 'channel' | 'episode'; id: string } | { to: 'jobs' | 'ledger' } | undefined
  /** Open alerts that say the same: the newest of each rule. */
  alerts: readonly { id: string; name: string }[]
}

/** Requests and errors of a channel that was the last one asked. */
type Hit = Pick<Sums, 'requests' | 'errors'> & { channel?: string | null | undefined }

/**
 * What is wrong now, the worst first. A channel appears once: an alert about one that has a problem is a
 * detail of it. Of open alerts, the first page; `hits`: of the last 15 minutes; undefined: not known.
 */
export function causesOf(
  health: Pick<Health, 'problems' | 'channels'> | undefined,
  { data: episodes, next_cursor: more }: Pick<Schema<'AlertEpisodeList'>, 'data' | 'next_cursor'>,
  hits: readonly Hit[] | undefined,
): Cause[] {
  const problems = health?.problems ?? []
  const nameOf = ({ where }: Problem) => /^channel (.*)$/.exec(where)?.[1]
  const ofChannels = problems.flatMap((problem) => {
    const name = nameOf(problem)
    return name === undefined ? [] : [{ problem, name }]
  })
  const downNames = named(ofChannels.filter(({ problem }) => problem.severity === 'bad'))
  const weakNames = named(ofChannels.filter(({ name }) => !downNames.includes(name)))
  const isSilent = (name: string) => health?.channels.some((one) => one.name === name && one.silent !== null)
  const [silentNames, failingNames] = [true, false].map((isIt) =>
    weakNames.filter((name) => (isSilent(name) === true) === isIt),
  )
  const channelCause = (
    id: 'down' | 'silent' | 'failing',
    tone: Cause['tone'],
    names: readonly string[] = [],
  ): Cause[] => {
    if (names.length === 0) return []
    const [isOne, areMany] = channelVerbs[id]
    const told = names.map((name) => ({ name, of: ofChannels.filter((one) => one.name === name) }))
    const what =
      names.length === 1
        ? `Channel ${names[0]} ${isOne}`
        : `${count(names.length)} channels ${areMany}: ${list(names)}`
    return [
      {
        ...{ id, tone, channels: names },
        title: `${what}.`,
        why: whyOf(told, health?.channels ?? []),
        // Clients that gave up do not count as failed.
        effect: id === 'silent' ? '' : effectOn(names, hits),
        details: told.map(({ name, of }) => ({
          ...{ id: name, name },
          words: of.map(({ problem }) => sentence(problem.what)).join(' '),
          since: sinceOf(of),
          way: channelWay(health, name),
          alerts: newestOf(episodes.filter((one) => one.name === `channel ${name}`)),
        })),
      },
    ]
  }
  const rest = problems.filter((problem) => nameOf(problem) === undefined)
  const [over, open] = [true, false].map((isOver) =>
    episodes.filter(
      ({ name, unheld_since }) =>
        ![...downNames, ...weakNames].some((one) => name === `channel ${one}`) &&
        (unheld_since !== null) === isOver,
    ),
  )
  const causes = [
    ...channelCause('down', 'bad', downNames),
    ...channelCause('silent', 'warning', silentNames),
    ...[...Map.groupBy(rest, ({ where }) => where)].map(
      ([where, found]): Cause => ({
        id: where,
        tone: found.some(({ severity }) => severity === 'bad') ? 'bad' : 'warning',
        title: `${capital(where)}: ${sentence(found[0]?.what ?? '')}`,
        why: '',
        effect: '',
        channels: [],
        details: found.map(({ what, since }) => ({
          id: what,
          name: where,
          words: sentence(what),
          since,
          way: { to: where === 'queues' ? 'jobs' : 'ledger' },
          alerts: [],
        })),
      }),
    ),
    ...channelCause('failing', 'warning', failingNames),
    ...alertCause(open ?? [], more !== null),
    ...overCause(over ?? [], health?.channels ?? []),
  ]
  return causes.toSorted((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone))
}

const channelVerbs = {
  down: ['is down', 'are down'],
  silent: ['does not answer', 'do not answer'],
  failing: ['is failing', 'are failing'],
} as const

const order: readonly Cause['tone'][] = ['bad', 'warning', 'good']

/** `upstream_error, status 500. Since Nov 24, 14:02:11. gpt-5-mini has no other channel that works.` */
function whyOf(
  told: readonly { name: string; of: readonly { problem: Problem }[] }[],
  channels: Health['channels'],
): string {
  const causes = told.flatMap(({ name, of }) => {
    const cause = of[0]?.problem.cause ?? null
    return cause === null ? [] : [{ name, cause }]
  })
  const kinds = [...Map.groupBy(causes, ({ cause }) => cause)]
  const shown = kinds
    .slice(0, causesListed)
    .map(([cause, of]) => (kinds.length === 1 ? cause : `${list(of.map(({ name }) => name))}: ${cause}`))
  if (kinds.length > causesListed) shown.push('…')
  const since = sinceOf(told.flatMap(({ of }) => of))
  const alone = onlyChannelWords(
    channels.filter(({ name }) => told.some((one) => one.name === name)).map((one) => one.only_channel_for),
  )
  return [
    ...(shown.length === 0 ? [] : [sentence((kinds.length === 1 ? capital : String)(shown.join('; ')))]),
    ...(since === null ? [] : [`Since ${moment(new Date(since))}.`]),
    ...(alone === '' ? [] : [alone]),
  ].join(' ')
}

/** Since the first of them. */
function sinceOf(of: readonly { problem: Problem }[]): string | null {
  const [first = null] = of.flatMap(({ problem: { since } }) => (since === null ? [] : [since])).sort()
  return first
}

const causesListed = 3

/** Alerts of what is over: each closes when that has lasted. */
function overCause(over: readonly Episode[], channels: Health['channels']): Cause[] {
  const saidOf = ({ name, rule, unheld_since: since }: Episode) => {
    const again = channels.find((one) => `channel ${one.name}` === name)?.recent.answers_again_since
    const what = rule.kind === 'channel_down' ? 'answers again' : 'is no longer so'
    return `${capital(name)} ${what} since ${moment(new Date(again ?? since ?? 0))}.`
  }
  const [first, ...others] = over
  if (first === undefined) return []
  const names = list([...new Set(over.map(({ name }) => name))])
  return [
    {
      ...{ id: 'over', tone: 'good', effect: '', channels: [] },
      title: others.length === 0 ? saidOf(first) : `${count(over.length)} alerts are over: ${names}.`,
      why: 'An alert closes by itself when this has lasted.',
      details: over.map((episode) => ({
        ...{ id: episode.id, name: `Alert ${episode.rule.name}`, since: null, alerts: [] },
        words: `${others.length === 0 ? '' : `${saidOf(episode)} `}It was: ${sentence(episode.summary)}`,
        way: { to: 'episode', id: episode.id },
      })),
    },
  ]
}

/** That too many requests end badly. */
export function errorCause(
  now: Pick<Sums, 'requests' | 'errors'>,
  before: Pick<Sums, 'requests' | 'errors'> | undefined,
): Cause {
  const then =
    before === undefined
      ? ''
      : before.requests === 0
        ? 'Nothing before.'
        : `Previously ${share(before.errors, before.requests)}.`
  return {
    id: 'errors',
    tone: 'warning',
    title: `${share(now.errors, now.requests)} of ${count(now.requests)} ${now.requests === 1 ? 'request was' : 'requests were'} refused or failed.`,
    why: '',
    effect: then,
    details: [],
    channels: [],
  }
}

/** `isCut`: there are more than these. */
function alertCause(open: readonly Episode[], isCut: boolean): Cause[] {
  if (open.length === 0) return []
  const names = [...new Set(open.map(({ rule }) => rule.name))]
  return [
    {
      id: 'alerts',
      tone: 'warning',
      title:
        open.length === 1 && !isCut
          ? `Alert ${names[0]}: ${sentence(open[0]?.summary ?? '')}`
          : `${count(open.length)} ${isCut ? 'or more ' : ''}alerts are open: ${list(names, isCut)}.`,
      why: '',
      effect: '',
      channels: [],
      details: open.map(episodeDetail),
    },
  ]
}

function episodeDetail({ id, rule, summary, opened_at, acknowledged }: Episode): Detail {
  return {
    id,
    name: `Alert ${rule.name}`,
    words: `${sentence(summary)}${acknowledged === null ? '' : ` Acknowledged by ${acknowledged.by}.`}`,
    since: opened_at,
    way: { to: 'episode', id },
    alerts: [],
  }
}

function newestOf(episodes: readonly Episode[]): { id: string; name: string }[] {
  const rules = Map.groupBy(episodes, ({ rule }) => rule.id)
  return [...rules.values()].flatMap((of) => {
    const newest = of.toSorted((a, b) => (a.opened_at < b.opened_at ? 1 : -1))[0]
    return newest === undefined ? [] : [{ id: newest.id, name: newest.rule.name }]
  })
}

function channelWay(health: Pick<Health, 'channels'> | undefined, name: string): Detail['way'] {
  const found = health?.channels.find((one) => one.name === name)
  return found === undefined ? undefined : { to: 'channel', id: found.id }
}

function effectOn(names: readonly string[], hits: readonly Hit[] | undefined): string {
  if (hits === undefined) return ''
  const hit = hits
    .filter(({ channel }) => names.includes(channel ?? ''))
    .reduce((sum, { errors }) => sum + errors, 0)
  const who = hit === 0 ? 'No request' : hit === 1 ? '1 request' : `${count(hit)} requests`
  return `${who} failed in the last 15 minutes.`
}

function named(found: readonly { name: string }[]): string[] {
  return [...new Set(found.map(({ name }) => name))]
}

const listed = 4

function list(names: readonly string[], isCut = false): string {
  if (isCut) return `${names.slice(0, listed - 1).join(', ')} and others`
  if (names.length <= listed) return names.join(', ')
  return `${names.slice(0, listed - 1).join(', ')} and ${count(names.length - listed + 1)} more`
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** With the full stop that words of an upstream may lack. */
function sentence(words: string): string {
  return /[.!?]$/.test(words) ? words : `${words}.`
}
