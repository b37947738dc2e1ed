import Anthropic, { toFile } from '@anthropic-ai/sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FilesBed, keys, note, startFilesBed } from './bed.ts'

/** Files by the SDK of the Messages vendor. */

let bed: FilesBed
let client: Anthropic
beforeAll(async () => {
  bed = await startFilesBed()
  client = new Anthropic({ baseURL: bed.tollgate.url, apiKey: keys.b, maxRetries: 0 })
})
afterAll(() => bed?.close())

test('are uploaded without a purpose, listed by pages, read and deleted', async () => {
  const { files } = client.beta
  const made = await files.upload({ file: await toFile(note, 'a.txt'), expires_in_seconds: 7200 })
  expect(made).toMatchObject({
    type: 'file',
    filename: 'a.txt',
    mime_type: 'text/plain',
    size_bytes: note.length,
  })
  expect(Date.parse(String(made.expires_at)) - Date.parse(made.created_at)).toBe(7_200_000)
  const other = await files.upload({ file: await toFile(note, 'b.txt') })
  const listed: string[] = []
  for await (const { id } of files.list({ limit: 1 })) listed.push(id)
  expect(listed).toEqual([other.id, made.id])
  expect(await files.retrieveMetadata(made.id)).toEqual(made)
  expect(Buffer.from(await (await files.download(made.id)).arrayBuffer()).equals(note)).toBe(true)
  const messages = [
    {
      role: 'user' as const,
      content: [{ type: 'document' as const, source: { type: 'file' as const, file_id: made.id } }],
    },
  ]
  await client.beta.messages.create({
    model: 'via-messages',
    max_tokens: 50,
    messages,
    betas: ['files-api-2025-04-14'],
  })
  expect(bed.seen.at(-1)).not.toContain(made.id)
  expect(await files.delete(made.id)).toEqual({ id: made.id, type: 'file_deleted' })
  await expect(files.retrieveMetadata(made.id)).rejects.toBeInstanceOf(Anthropic.NotFoundError)
})

test('a lifetime that does not fit is refused by its own name', async () => {
  const upload = client.beta.files.upload({ file: await toFile(note, 'a.txt'), expires_in_seconds: 10 })
  await expect(upload).rejects.toThrow('expires_in_seconds: expected a whole number from 3600 to 2592000')
})
