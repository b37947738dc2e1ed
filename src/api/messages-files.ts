import { z } from 'zod'
import type { ClientFile } from '../state/files/file.ts'

// Files in the form used by clients of the Messages format.
// https://platform.claude.com/docs/en/api/beta/files and @anthropic-ai/sdk 1.12.0, read 2026-11-28

export const messagesFile = z
  .object({
    id: z.string(),
    type: z.literal('file'),
    filename: z.string(),
    mime_type: z.string(),
    size_bytes: z.int(),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().describe('The file is deleted at this time.'),
    downloadable: z.literal(true),
  })
  .meta({ id: 'MessagesFile' })

export const messagesFilePage = z
  .object({
    data: z.array(messagesFile),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
    next_page: z
      .string()
      .nullable()
      .describe('The value of `page` for the next page. Null on the last page.'),
  })
  .meta({ id: 'MessagesFilePage' })

export const messagesFileDeleted = z
  .object({ id: z.string(), type: z.literal('file_deleted') })
  .meta({ id: 'MessagesFileDeleted' })

export function messagesFileJson(file: ClientFile): z.output<typeof messagesFile> {
  const { id, filename, mime, bytes, createdAt, expiresAt } = file
  return {
    id,
    type: 'file',
    filename,
    mime_type: mime,
    size_bytes: bytes,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
    downloadable: true,
  }
}

export function messagesFileList(
  files: readonly ClientFile[],
  hasMore: boolean,
): z.output<typeof messagesFilePage> {
  const last = files.at(-1)?.id ?? null
  return {
    data: files.map(messagesFileJson),
    first_id: files[0]?.id ?? null,
    last_id: last,
    has_more: hasMore,
    next_page: hasMore ? last : null,
  }
}
