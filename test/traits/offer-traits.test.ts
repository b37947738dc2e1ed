import { afterEach, expect, test, vi } from 'vitest'
import type { Traits } from '../../src/canonical/traits.ts'
import { type KnownOfOffer, OfferTraits, type TraitVerdict } from '../../src/catalog/traits/offer-traits.ts'

afterEach(() => {
  vi.useRealTimers()
})

function offerOf({ vendor, stated = [], verdicts = [] }: Partial<KnownOfOffer>): OfferTraits {
  return new OfferTraits({ vendor, stated, verdicts })
}

function verdict(traits: Traits, more: Partial<TraitVerdict> = {}): TraitVerdict {
  return {
    protocol: 'openai-chat',
    upstreamModel: 'gpt-5',
    traits,
    decidedAt: new Date(0),
    expiresAt: undefined,
    ...more,
  }
}

test('a model that no one knows has no traits', () => {
  expect(offerOf({}).of('openai-chat', 'a-model-of-our-own')).toEqual({})
})

test('the vendor counts where nothing else is known', () => {
  const traits = offerOf({ vendor: 'mistral' }).of('openai-chat', 'a-model-of-our-own')
  expect(traits.outputBound).toBe('max_tokens')
  expect(traits.takes?.seed).toBe(false)
})

test('the family corrects the vendor', () => {
  const at = (model: string) => offerOf({ vendor: 'openrouter' }).of('openai-chat', model)
  expect(at('someone/a-model').developerRole).toBe(false)
  expect(at('openai/gpt-5.4').developerRole).toBe(true)
})

test('a verdict corrects the family, and the file corrects a verdict', () => {
  const verdicts = [verdict({ stopMax: 4, prefill: true })]
  expect(offerOf({}).of('openai-chat', 'gpt-5').stopMax).toBe(0)
  expect(offerOf({ verdicts }).of('openai-chat', 'gpt-5')).toMatchObject({ stopMax: 4, prefill: true })
  const stated = [{ stopMax: 1 }, { stopMax: 2 }]
  expect(offerOf({ verdicts, stated }).of('openai-chat', 'gpt-5')).toMatchObject({
    stopMax: 2,
    prefill: true,
  })
})

test('one parameter is corrected without the others', () => {
  const stated = [{ takes: { temperature: true } }]
  const { takes } = offerOf({ stated }).of('openai-chat', 'gpt-5')
  expect(takes).toMatchObject({ temperature: true, topP: false, logitBias: false })
})

test('a verdict counts for its protocol and its model only', () => {
  const offer = offerOf({ verdicts: [verdict({ stopMax: 4 })] })
  expect(offer.of('openai-responses', 'gpt-5').stopMax).toBe(0)
  expect(offer.of('openai-chat', 'gpt-5-mini').stopMax).toBe(0)
})

test('a verdict ends at its time, also when its traits were asked for before', () => {
  vi.useFakeTimers({ now: new Date('2026-11-22T12:00:00Z') })
  const verdicts = [verdict({ stopMax: 4 }, { expiresAt: new Date('2026-11-23T12:00:00Z') })]
  const offer = offerOf({ verdicts })
  expect(offer.of('openai-chat', 'gpt-5').stopMax).toBe(4)
  vi.setSystemTime(new Date('2026-11-23T11:59:59Z'))
  expect(offer.of('openai-chat', 'gpt-5').stopMax).toBe(4)
  vi.setSystemTime(new Date('2026-11-23T12:00:00Z'))
  expect(offer.of('openai-chat', 'gpt-5').stopMax).toBe(0)
})

test.each([
  'claude-opus-4-8',
  'anthropic/claude-opus-4.8',
  'anthropic.claude-opus-4-8-v1:0',
  'eu.anthropic.claude-opus-4-8',
  'Claude-Opus-4-8@20260528',
  'bedrock/us-east-1/anthropic.claude-opus-4-8',
])('%s is Claude Opus 4.8', (model) => {
  expect(offerOf({}).of('anthropic-messages', model)).toMatchObject({
    thinking: 'adaptive',
    takes: { temperature: false },
    prefill: false,
  })
})

test('a name that only contains another name is another model', () => {
  expect(offerOf({}).of('anthropic-messages', 'not-claude-opus-4-8')).toEqual({})
  expect(offerOf({}).of('openai-chat', 'my-gpt-5')).toEqual({})
})

test('equal traits are one object, also of different offers', () => {
  const one = offerOf({}).of('openai-chat', 'gpt-5-2025-08-07')
  const other = offerOf({}).of('openai-chat', 'openai/gpt-5')
  expect(other).toBe(one)
  const stated = offerOf({ stated: [{ stopMax: 3 }] }).of('openai-chat', 'gpt-5')
  expect(stated).not.toBe(one)
})
