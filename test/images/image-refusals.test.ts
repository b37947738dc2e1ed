import { expect, test } from 'vitest'
import type { Model, Price } from '../../src/catalog/snapshot.ts'
import { missingImageBound, worstCaseImagesNano } from '../../src/money/price.ts'
import { costNotBounded } from '../../src/pipeline/worst-case.ts'

/** A refused request for images of limited money says the one thing that is missing. */

const nothing = { imageRates: [], rates: [] }
const model = (price: object | undefined, more: Partial<Model> = {}) =>
  ({ price: price && ({ ...nothing, ...price } as unknown as Price), ...more }) as Model
const asked = { count: 1, size: undefined, quality: undefined, at: 0, bodyBytes: 100 }
const rate = { size: '1024x1024', quality: 'low', nano: 5n }

test.each([
  ['no price at all', model(undefined), asked, 'price', 'the model has no price. '],
  [
    'a price of other images',
    model({ imageRates: [rate] }),
    { ...asked, size: '1x1', quality: 'high' },
    'image price',
    'its price has no part for an image of this size and quality. ',
  ],
  [
    'a price of tokens without bounds',
    model({ input: 1n, output: 1n }),
    asked,
    'output',
    'nothing bounds its answer. The operator can set max_output_tokens.',
  ],
  [
    'a price of tokens, and a channel that may send more',
    model({ input: 1n, output: 1n }, { maxOutputTokens: 10 }),
    { ...asked, hasMore: true },
    'context',
    'the model has no context_length.',
  ],
  [
    'a price of input alone',
    model({ input: 1n }, { contextLength: 1000 }),
    asked,
    'output price',
    'its price has no part for output. ',
  ],
] as const)('the cost of an image is not bounded: %s', (_name, of, images, missing, words) => {
  expect(worstCaseImagesNano(images, of, '1')).toBeUndefined()
  expect(missingImageBound(images, of)).toBe(missing)
  const { reason, message } = costNotBounded('draw', missing, {
    answerBound: 'The operator can set max_output_tokens',
  })
  expect(reason).toBe('cost_not_bounded')
  expect(message).toContain(`a request to model "draw" has no upper bound on its cost: ${words}`)
  expect(message).not.toMatch(/\bnor\b/)
})
