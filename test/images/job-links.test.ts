import { expect, test } from 'vitest'
import { linkerFor } from '../../src/images/job-answer.ts'
import { ImageLinks } from '../../src/storage/links.ts'

test.each(['https://gateway.test', 'https://gateway.test/', 'https://gateway.test/below//'])(
  'links to images begin with %s and have one slash before their path',
  (origin) => {
    const images = { links: new ImageLinks(Buffer.alloc(32), 60) } as Parameters<
      typeof linkerFor
    >[0]['images']
    const path = linkerFor(
      { images },
      origin,
    )('2026-11-29/a.png').replace(/^https:\/\/gateway\.test(\/below)?/, '')
    expect(path).toMatch(/^\/v1\/images\/files\/2026-11-29\/a\.png\?/)
  },
)
