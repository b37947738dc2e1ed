import { z } from 'zod'
import { type GatewayError, gatewayError } from '../canonical/error.ts'
import { endAnswer, writeTo } from '../http/event-stream.ts'
import { end } from '../pipeline/end.ts'
import { answeredEnding } from '../pipeline/ending.ts'
import type { Identified } from '../pipeline/identify.ts'
import { redactText } from '../redaction/redact.ts'
import { type ClientFile, type FileScope, fileScopeOf, isFileId, purposes } from '../state/files/file.ts'
import { type ClientEndpoint, keyEndpoint } from './endpoint.ts'
import type { FileGateway } from './file-gateway.ts'
import {
  messagesFile,
  messagesFileDeleted,
  messagesFileJson,
  messagesFileList,
  messagesFilePage,
} from './messages-files.ts'
import { oneOfWords, text, wholeNumber } from './parameter.ts'
import { readFor } from './read-for.ts'
import { receiveUpload } from './receive-upload.ts'
import { speaksMessages } from './speaks-messages.ts'

const path = '/v1/files'

const fileObject = z
  .object({
    id: z.string(),
    object: z.literal('file'),
    bytes: z.number().int(),
    created_at: z.number().int().describe('Seconds since the epoch.'),
    expires_at: z.number().int().describe('Seconds since the epoch. The file is deleted at this time.'),
    filename: z.string(),
    purpose: z.enum(purposes),
    status: z.literal('processed'),
  })
  .meta({ id: 'File' })

const filePage = z
  .object({
    object: z.literal('list'),
    data: z.array(fileObject),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })
  .meta({ id: 'FilePage' })

const fileDeleted = z
  .object({ id: z.string(), object: z.literal('file'), deleted: z.literal(true) })
  .meta({ id: 'FileDeleted' })

const form = z
  .object({
    file: z
      .string()
      .meta({ format: 'binary' })
      .describe('A PDF, PNG, JPEG, GIF or WebP file, or UTF-8 text.'),
    purpose: z.enum(purposes).describe('Always `user_data` in the Messages format, which has no purpose.'),
    user: z
      .string()
      .optional()
      .describe('The end user to whom the file belongs. An erasure of this user deletes the file.'),
    'expires_after[anchor]': z.literal('created_at').optional(),
    'expires_after[seconds]': z.number().int().min(3600).max(2_592_000).optional(),
    expires_in_seconds: z
      .number()
      .int()
      .min(3600)
      .max(2_592_000)
      .optional()
      .describe('The name of `expires_after[seconds]` in the Messages format.'),
  })
  .meta({ id: 'FileUpload' })

const listQuery = z.object({
  after: text.optional().describe('The id of the last file of the previous page.'),
  after_id: text.optional().describe('The name of `after` in the Messages format.'),
  page: text.optional().describe('The `next_page` of the previous page, with the same effect as `after`.'),
  limit: wholeNumber(1, 10_000).default(1_000).describe('The maximum number of files per page.'),
  order: oneOfWords(['asc', 'desc']).default('desc').describe('The order by upload time.'),
  purpose: text.optional(),
})

const params = z.object({ id: z.string() })

const anyFile = z.union([fileObject, messagesFile]).meta({ id: 'AnyFile' })
const anyFilePage = z.union([filePage, messagesFilePage]).meta({ id: 'AnyFilePage' })
const anyFileDeleted = z.union([fileDeleted, messagesFileDeleted]).meta({ id: 'AnyFileDeleted' })

/** Returns the file in the caller's format. */
function shownFile(stage: Identified, file: ClientFile): z.output<typeof anyFile> {
  return speaksMessages(stage) ? messagesFileJson(file) : fileJson(file)
}

/** Files that clients upload once and then refer to in requests. */
export function fileEndpoints(gateway: FileGateway): ClientEndpoint[] {
  const { files } = gateway
  return [
    keyEndpoint({
      method: 'POST',
      path,
      summary: 'Upload a file',
      description:
        'Requests refer to the file by its id, if their format supports it. The file is kept for FILE_DAYS days, or for a shorter time set by `expires_after`.',
      logged: true,
      limited: true,
      form,
      answer: anyFile,
      async handle({ stage, request }) {
        requireFiles(gateway)
        return {
          body: shownFile(stage, await receiveUpload(gateway, stage, request, speaksMessages(stage))),
        }
      },
    }),
    fileListEndpoint(gateway),
    keyEndpoint({
      method: 'GET',
      path: `${path}/{id}`,
      summary: 'Get the metadata of a file',
      logged: true,
      limited: true,
      params,
      answer: anyFile,
      async handle({ stage, params: { id } }) {
        return { body: shownFile(stage, await fileOf(gateway, stage, id)) }
      },
    }),
    keyEndpoint({
      method: 'GET',
      path: `${path}/{id}/content`,
      summary: 'Download a file',
      logged: true,
      limited: true,
      media: 'application/octet-stream',
      params,
      async handle({ stage, params: { id } }) {
        await sendFile(gateway, stage, await fileOf(gateway, stage, id))
        return undefined
      },
    }),
    keyEndpoint({
      method: 'DELETE',
      path: `${path}/{id}`,
      summary: 'Delete a file',
      description: 'A request that is already reading the file can still read all of it.',
      logged: true,
      limited: true,
      params,
      answer: anyFileDeleted,
      async handle({ stage, params: { id } }) {
        const file = await fileOf(gateway, stage, id)
        if (!(await files.remove(file))) throw noSuchFile(id)
        if (speaksMessages(stage)) return { body: { id: file.id, type: 'file_deleted' as const } }
        return { body: { id: file.id, object: 'file' as const, deleted: true as const } }
      },
    }),
  ]
}

function fileListEndpoint(gateway: FileGateway): ClientEndpoint {
  const { files } = gateway
  return keyEndpoint({
    method: 'GET',
    path,
    summary: 'List the files of the tenant or the key',
    logged: true,
    limited: true,
    query: listQuery,
    answer: anyFilePage,
    async handle({
      stage,
      query: { after_id: afterId, page, after = page ?? afterId, limit, order, purpose },
    }) {
      requireFiles(gateway)
      const scope = fileScopeOf(stage.identity)
      const found = await readFor(stage, (terms) =>
        files.list(scope, { after, order, purpose, limit: limit + 1 }, terms),
      )
      const shown = found.slice(0, limit)
      const hasMore = found.length > limit
      if (speaksMessages(stage)) return { body: messagesFileList(shown, hasMore) }
      const data = shown.map(fileJson)
      return {
        body: {
          object: 'list' as const,
          data,
          first_id: data.at(0)?.id ?? null,
          last_id: data.at(-1)?.id ?? null,
          has_more: hasMore,
        },
      }
    },
  })
}

function requireFiles({ bounds }: FileGateway): void {
  if (bounds.fileDays > 0) return
  throw gatewayError('files_not_kept')
}

/** Another tenant's file is reported as missing. */
async function fileOf(gateway: FileGateway, { identity }: Identified, id: string): Promise<ClientFile> {
  requireFiles(gateway)
  const scope: FileScope = fileScopeOf(identity)
  const [file] = isFileId(id) ? await gateway.files.find(scope, [id]) : []
  if (file === undefined) throw noSuchFile(id)
  return file
}

async function sendFile(gateway: FileGateway, stage: Identified, file: ClientFile): Promise<void> {
  const { files, bounds } = gateway
  const { exchange, life, id } = stage
  const { reply } = exchange
  const stored = await files.open(file).catch((cause: unknown) => {
    throw unreadable(cause)
  })
  if (stored === undefined) throw noSuchFile(file.id)
  const leave = () => stored.stream.destroy()
  life.running = { resume() {}, abort: leave }
  reply.once('close', leave)
  try {
    reply.writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-length': stored.bytes,
      'content-disposition': `attachment; filename*=UTF-8''${encoded(file.filename)}`,
      'x-content-type-options': 'nosniff',
      'x-request-id': id,
    })
    for await (const chunk of stored.stream) await writeTo(reply, chunk, bounds.clientStallMs)
    if (!life.clientGone) await end(gateway, stage, answeredEnding(200, null))
    endAnswer(reply, bounds.clientStallMs)
  } catch (cause) {
    // Once the headers are sent, only a closed connection can signal the failure.
    reply.destroy()
    if (!life.clientGone) throw unreadable(cause)
  } finally {
    life.running = undefined
    reply.off('close', leave)
    stored.stream.destroy()
  }
}

export function fileJson(file: ClientFile): z.output<typeof fileObject> {
  const { id, bytes, createdAt, expiresAt, filename, purpose } = file
  return {
    id,
    object: 'file',
    bytes,
    created_at: secondsOf(createdAt),
    expires_at: secondsOf(expiresAt),
    filename,
    purpose,
    status: 'processed',
  }
}

/** Encodes a header parameter: https://www.rfc-editor.org/rfc/rfc8187#section-3.2.1 */
const encoded = (name: string) =>
  encodeURIComponent(name).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`)

const secondsOf = (moment: Date) => Math.floor(moment.getTime() / 1000)

function unreadable(cause: unknown): GatewayError {
  return gatewayError('file_storage_away', { how: 'read' }, { cause, retryAfterSeconds: 5 })
}

function noSuchFile(id: string): GatewayError {
  return gatewayError('file_not_found', { id: redactText(id, [], 64) })
}
