import { expect, expectTypeOf, test } from 'vitest'
import type { Books } from '../../src/pipeline/books.ts'
import { formatAt } from '../../src/pipeline/endpoints.ts'
import type { Identified } from '../../src/pipeline/identify.ts'
import type { Asked, Content } from '../../src/pipeline/read.ts'
import { arrive, extend } from '../../src/pipeline/received.ts'

const begun = () => arrive({} as Books, 0, formatAt('/v1/chat/completions'), null)

test('a stage is the same object, with what has become known', () => {
  const arrived = begun()
  const named = extend(arrived, { name: 'main' })
  expect(named).toBe(arrived)
  expect(named.name).toBe('main')
})

test('a stage cannot change what an earlier one has set', () => {
  // @ts-expect-error: a request keeps its id.
  extend(begun(), { id: 'another' })
  const asked = extend(begun() as unknown as Identified, {} as Content)
  expectTypeOf(asked).toExtend<Asked>()
  // @ts-expect-error: a request is read once.
  extend(asked, { body: Buffer.from('another') })
  // @ts-expect-error: nor can it be told later that its answer is kept.
  extend(asked, { kept: undefined })
})
