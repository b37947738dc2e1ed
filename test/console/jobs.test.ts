import { describe, expect, test } from 'vitest'
import { linkMemory, ownAddress } from '../../console/src/pages/jobs/image-links.ts'
import { cancelWords, jobsAgainMs, promptOf, webhookWords } from '../../console/src/pages/jobs/job-state.ts'

const link = (signature: string, expires = 2_000) =>
  `https://gateway.example.com/v1/images/files/2026-11-24/abc?expires=${expires}&signature=${signature}`

describe('a link of an image', () => {
  test('of any host of the gateway is shown by its path', () => {
    expect(ownAddress(link('s'))).toBe('/v1/images/files/2026-11-24/abc?expires=2000&signature=s')
  })

  test('of a bucket, and what is not a link, is not shown', () => {
    expect(ownAddress('https://bucket.s3.amazonaws.com/tollgate/abc?X-Amz-Signature=s')).toBeUndefined()
    expect(ownAddress('nonsense')).toBeUndefined()
  })

  test('stays the same while it works, and is replaced a minute before it ends', () => {
    let now = 0
    const addressOf = linkMemory(() => now)
    const first = addressOf(link('first'))
    expect(addressOf(link('second'))).toBe(first)
    now = 1_940_000
    expect(addressOf(link('third', 9_000))).toContain('third')
    expect(addressOf(link('fourth', 9_000))).toContain('third')
  })
})

test('a list with a job that waits or runs is read again sooner', () => {
  expect(jobsAgainMs([{ status: 'succeeded' }, { status: 'running' }])).toBeLessThan(
    jobsAgainMs([{ status: 'succeeded' }, { status: 'failed' }]),
  )
})

test('a cancel says what happens to the money', () => {
  expect(cancelWords('image', { status: 'queued' })).toContain('it costs nothing')
  expect(cancelWords('image', { status: 'running' })).toContain('a preview are charged')
  expect(cancelWords('answer', { status: 'running' })).toContain('made of it so far is charged')
})

test('the prompt is read from a body that is whole', () => {
  expect(promptOf('{"model":"painter","prompt":"a harbour"}')).toBe('a harbour')
  expect(promptOf('{"model":"painter","prompt":"a har')).toBeUndefined()
  expect(promptOf('{"prompt":7}')).toBeUndefined()
  expect(promptOf(null)).toBeUndefined()
})

test('a webhook in words', () => {
  expect(webhookWords(null)).toBe('none')
  expect(webhookWords({ status: 'delivered', tries: 1 })).toBe('delivered, after 1 try')
  expect(webhookWords({ status: 'failed', tries: 5 })).toBe('not delivered, after 5 tries')
  expect(webhookWords({ status: 'pending', tries: 2 })).toBe('under way, 2 tries so far')
})
