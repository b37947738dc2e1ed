import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Channel, Model } from '../../src/catalog/snapshot.ts'
import { settingsOfChannels } from '../../src/db/settings/channel-settings.ts'
import { defaultsOf } from '../../src/db/settings/setting.ts'
import type { ProtocolName } from '../../src/protocols/protocol.ts'
import type { Candidate } from '../../src/routing/candidates.ts'
import { everyCredentialOf } from '../../src/routing/credentials.ts'
import type { Routing } from '../../src/routing/routing.ts'
import { type ModelCandidates, type TargetResult, Targets } from '../../src/routing/targets.ts'
import { localRouting } from '../support/local-routing.ts'
import { type ManualClock, manualClock } from '../support/manual-clock.ts'

let clock: ManualClock
let routing: Routing
let passed: string[]
beforeEach(() => {
  clock = manualClock()
  routing = localRouting(clock)
  passed = []
})
afterEach(() => routing.end())

const model: Model = {
  id: 'm',
  aliases: [],
  fallbacks: [],
  plainMembers: [],
  contextLength: undefined,
  maxOutputTokens: undefined,
  price: undefined,
  images: undefined,
  offers: [],
  createdAt: new Date(0),
}

function channelOf(name: string, credentials = ['a']): Channel {
  return {
    id: name,
    name,
    protocols: {},
    ...defaultsOf(settingsOfChannels),
    allowPrivateAddress: true,
    credentials,
    vendor: undefined,
  }
}

const candidateOf = (channel: Channel, protocol: ProtocolName = 'openai-chat'): Candidate => ({
  channel,
  protocol,
  native: protocol === 'openai-chat',
  baseUrl: '',
  upstreamModel: 'up',
  traits: {},
  modelNamedBy: 'operator',
  reason: 'test',
})

const ofModel = (candidates: Candidate[], fallback?: string): ModelCandidates => ({
  model,
  candidates,
  fallback,
  blocked: [],
})
const start = (...planned: ModelCandidates[]) =>
  new Targets(
    routing,
    planned,
    () => undefined,
    ({ fallback }, { channel }, reason) => {
      passed.push(`${fallback === undefined ? '' : `${fallback} at `}${channel.name}: ${reason}`)
    },
  )
const shut = ({ id, name }: Channel) => routing.breakers.begin(id, name).end('failure', 'x', 60_000)

const failed: TargetResult = { next: 'channel', reached: true }
const away: TargetResult = { next: 'channel', reached: false }
const named = (targets: Targets, result?: TargetResult) => {
  const chosen = targets.next(result)
  if (chosen === undefined) return undefined
  const { target, isLastResort } = chosen
  return `${target.channel.name} ${target.credential.secret}${isLastResort ? ', last resort' : ''}`
}

test('one target is called as a last resort after all others have failed, and only one', () => {
  const [one, two, three] = ['one', 'two', 'three'].map((name) => channelOf(name))
  if (one === undefined || two === undefined || three === undefined) throw new Error('three channels')
  shut(one)
  shut(two)
  const targets = start(ofModel([one, two, three].map((channel) => candidateOf(channel))))
  expect(named(targets)).toBe('three a')
  expect(named(targets, failed)).toBe('one a, last resort')
  expect(named(targets, failed)).toBeUndefined()
})

test('the last resort is not a channel that this request found away, but the next best', () => {
  const both = channelOf('both', ['a', 'b'])
  const other = channelOf('other')
  const [first] = everyCredentialOf(both)
  if (first === undefined) throw new Error('a credential')
  routing.cooldowns.begin('both', first, 'up', 'refused', undefined)
  shut(other)
  const targets = start(ofModel([candidateOf(both), candidateOf(other)]))
  expect(named(targets)).toBe('both b')
  expect(named(targets, away)).toBe('other a, last resort')
  expect(named(targets, failed)).toBeUndefined()
})

test('the last resort is not a target that this request has tried', () => {
  const [one, two] = [channelOf('one'), channelOf('two')]
  shut(one)
  const targets = start(ofModel([candidateOf(one), candidateOf(two)]), ofModel([candidateOf(one)], 'spare'))
  expect(named(targets)).toBe('two a')
  // The time of the breaker is over while this request waits for the other channel.
  clock.pass(60_000)
  expect(named(targets, failed)).toBe('one a')
  expect(named(targets, failed)).toBeUndefined()
})

test('if the format of the last resort cannot express the request, another target becomes the last resort', () => {
  const [one, two] = [channelOf('one'), channelOf('two')]
  shut(one)
  shut(two)
  const targets = start(ofModel([candidateOf(one, 'gemini'), candidateOf(two)]))
  expect(named(targets)).toBe('one a, last resort')
  expect(named(targets, { next: 'untranslatable', reached: true })).toBe('two a, last resort')
})

test('a channel that is down is passed over for a fallback, and the reason says so', () => {
  const [one, two] = [channelOf('one'), channelOf('two')]
  const targets = start(ofModel([candidateOf(one)]), ofModel([candidateOf(one), candidateOf(two)], 'spare'))
  expect(named(targets)).toBe('one a')
  expect(named(targets, away)).toBe('two a')
  expect(passed).toEqual(['spare at one: its channel did not respond earlier in this request'])
})
