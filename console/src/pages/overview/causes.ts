import type { Schema } from '../../api/client.ts'
import { count, share } from '../../format/numbers.ts'
import type { Sums } from './overview-query.ts'

type Health = Schema<'Health'>
type Episode = Schema<'AlertEpisodeList'>['data'][number]
type Problem = Health['problems'][number]

/** One thing that is wrong, in a line, with what it is made of. */
export interface Cause {
  /** Of its kind: there is one of each. */
  id: string
  tone: 'bad' | 'warning'
  /** `3 channels are down: a, b, c.` */
  title: string
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
  const channelCause = (id: string, tone: Cause['tone'], names: readonly string[], verb: string): Cause[] => {
    if (names.length === 0) return []
    const told = names.map((name) => ({ name, of: ofChannels.filter((one) => one.name === name) }))
    const what =
      names.length === 1
        ? `Channel ${names[0]} is ${verb}`
        : `${count(names.length)} channels are ${verb}: ${list(names)}`
    return [
      {
        ...{ id, tone, channels: names },
        title: `${what}.`,
        effect: effectOn(names, hits),
        details: told.map(({ name, of }) => ({
          ...{ id: name, name },
          words: of.map(({ problem }) => sentence(problem.what)).join(' '),
          since: of[0]?.problem.since ?? null,
          way: channelWay(health, name),
          alerts: newestOf(episodes.filter((one) => one.name === `channel ${name}`)),
        })),
      },
    ]
  }
  const rest = problems.filter((problem) => nameOf(problem) === undefined)
  const open = episodes.filter(
    ({ name }) => ![...downNames, ...weakNames].some((one) => name === `channel ${one}`),
  )
  const causes = [
    ...channelCause('down', 'bad', downNames, 'down'),
    ...[...Map.groupBy(rest, ({ where }) => where)].map(
      ([where, found]): Cause => ({
        id: where,
        tone: found.some(({ severity }) => severity === 'bad') ? 'bad' : 'warning',
        title: `${capital(where)}: ${sentence(found[0]?.what ?? '')}`,
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
    ...channelCause('failing', 'warning', weakNames, 'failing'),
    ...alertCause(open, more !== null),
  ]
  return causes.toSorted((a, b) => Number(a.tone !== 'bad') - Number(b.tone !== 'bad'))
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
