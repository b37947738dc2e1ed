import { expect, test } from 'vitest'
import { type ModelValues, modelBody } from '../../console/src/pages/models/model-body.ts'

/** What the form for a new model sends. */
const empty: ModelValues = {
  id: ' m ',
  context_length: '',
  max_output_tokens: '',
  aliases: [],
  plain_members: [],
  input: '',
  output: '',
  cache_read: '',
}

test('a new model has what was given, and nothing else', () => {
  expect(modelBody(empty)).toEqual({ id: 'm' })
  const given = { context_length: 8_000, plain_members: ['min_p', 'messages[].prefix'], aliases: ['n'] }
  expect(modelBody({ ...empty, ...given, input: '2.50' })).toEqual({
    ...given,
    id: 'm',
    price: { input: '2.50' },
  })
})
