import { mkdtempSync, rmSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A service on a real socket that speaks S3 and keeps one bucket on disk. */
export interface S3Server {
  /** Everything that `s3Storage` needs to speak to it. */
  options: {
    bucket: string
    endpoint: string
    region: string
    prefix: string
    accessKeyId: string
    secretAccessKey: string
  }
  /** The requests, in order of arrival. */
  requests: { method: string; url: string; headers: IncomingMessage['headers'] }[]
  /** The number of bytes that came over its sockets, headers included. */
  bytesArrived(): number
  /** Keys of objects and of unfinished uploads in the bucket, prefix included. */
  objects(): Promise<string[]>
  uploads(): Promise<string[]>
  /** Put an object into the bucket that no storage made. */
  put(key: string, body: string): Promise<void>
  /** From now on wait for `gate` before each answer. When it throws, the answer is a 500. */
  before(hook: (request: IncomingMessage) => Promise<void> | void): void
  close(): Promise<void>
}

/** `perPage`: the page size of listings. `listsUploads: false`: a service that cannot list unfinished uploads. */
export async function startS3({ perPage = 1000, listsUploads = true } = {}): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-s3-'))
  const S3rver: S3rverClass = createRequire(import.meta.url)('@20minutes/s3rver')
  const buckets = [{ name: bucket }]
  const common = { directory, silent: true, vhostBuckets: false, configureBuckets: buckets }
  const s3rver = new S3rver(common)
  // It drops the last slash of `/BUCKET/` in signatures. So requests to the bucket itself pass with any signature.
  const ofBucket = new S3rver({ ...common, allowMismatchedSignatures: true })
  for (const { store } of [s3rver, ofBucket]) deleteOnlyObjects(store)
  await s3rver.configureBuckets()
  const [answerForObject, answerForBucket] = [s3rver.callback(), ofBucket.callback()]
  const unfinished = new UnfinishedUploads(join(directory, bucket, '._S3rver_uploads'), perPage)
  const requests: S3Server['requests'] = []
  const sockets: Socket[] = []
  let hook: Parameters<S3Server['before']>[0] = () => {}

  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request
    requests.push({ method, url, headers })
    try {
      await hook(request)
    } catch {
      response.writeHead(500).end()
      return
    }
    if (listsUploads && (await unfinished.answer(request, response))) return
    const { searchParams: query } = new URL(url, 'http://s3')
    if (query.has('list-type')) {
      response.end(await listing(s3rver.store, perPage, query))
      return
    }
    const isOfBucket = /^\/[^/]*\/?(\?|$)/.test(url)
    if (isOfBucket) answerForBucket(request, response)
    else answerForObject(request, response)
  })
  server.on('connection', (socket) => sockets.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  return {
    options: {
      bucket,
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      prefix: 'tollgate/',
      accessKeyId: 'S3RVER',
      secretAccessKey: 'S3RVER',
    },
    requests,
    bytesArrived: () => sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
    async objects() {
      const { objects } = await s3rver.store.listObjects(bucket, {})
      return objects.map(({ key }) => key)
    },
    uploads: async () => (await unfinished.list()).map(({ key }) => key),
    async put(key, body) {
      await s3rver.store.putObject({ bucket, key, content: Buffer.from(body), metadata: {} })
    },
    before(next) {
      hook = next
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

const bucket = 'images'

/** It also deletes empty folders, and fails at that when it deletes several objects at once. */
function deleteOnlyObjects(store: S3rverStore): void {
  store.deleteObject = async (bucket, key) => {
    const files = ['object', 'object.md5', 'metadata.json'].map((part) =>
      store.getResourcePath(bucket, key, part),
    )
    await Promise.all(files.map((file) => rm(file, { force: true })))
  }
}

/** Its own listing has only one page: it encrypts the next page's marker with a cipher that OpenSSL no longer has. */
async function listing(store: S3rverStore, perPage: number, query: URLSearchParams): Promise<string> {
  const { objects, commonPrefixes, isTruncated } = await store.listObjects(bucket, {
    prefix: query.get('prefix') ?? '',
    delimiter: query.get('delimiter') ?? '',
    startAfter: query.get('continuation-token') ?? '',
    maxKeys: perPage,
  })
  const next = objects.at(-1)?.key
  return (
    `${xml}<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>` +
    (isTruncated ? `<NextContinuationToken>${next}</NextContinuationToken>` : '') +
    objects.map(({ key }) => `<Contents><Key>${key}</Key></Contents>`).join('') +
    commonPrefixes.map((prefix) => `<CommonPrefixes><Prefix>${prefix}</Prefix></CommonPrefixes>`).join('') +
    '</ListBucketResult>'
  )
}

const xml = '<?xml version="1.0" encoding="UTF-8"?>'

/** Lists and aborts unfinished uploads, which the service does not know. It keeps each upload in a folder. */
class UnfinishedUploads {
  readonly #folder: string
  readonly #perPage: number

  constructor(folder: string, perPage: number) {
    this.#folder = folder
    this.#perPage = perPage
  }

  /** False: not a request about uploads. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { searchParams: query } = new URL(request.url ?? '', 'http://s3')
    const id = query.get('uploadId')
    if (request.method === 'DELETE' && id !== null) {
      const isThere = (await this.list()).some((upload) => upload.id === id)
      if (isThere) {
        await rm(join(this.#folder, id), { recursive: true, maxRetries: 5 })
        response.writeHead(204).end()
      } else {
        response
          .writeHead(404)
          .end('<Error><Code>NoSuchUpload</Code><Message>no such upload</Message></Error>')
      }
      return true
    }
    if (request.method !== 'GET' || !query.has('uploads')) return false
    response.end(await this.#page(query))
    return true
  }

  async list(): Promise<{ key: string; id: string }[]> {
    const ids = await readdir(this.#folder).catch(() => [])
    const uploads = ids.map(async (id) => ({
      id,
      key: await readFile(join(this.#folder, id, 'key'), 'utf8'),
    }))
    const known = (await Promise.allSettled(uploads)).flatMap((each) =>
      each.status === 'fulfilled' ? [each.value] : [],
    )
    return known.sort((a, b) => (markOf(a) < markOf(b) ? -1 : 1))
  }

  async #page(query: URLSearchParams): Promise<string> {
    const prefix = query.get('prefix') ?? ''
    const from = markOf({ key: query.get('key-marker') ?? '', id: query.get('upload-id-marker') ?? '' })
    const rest = (await this.list()).filter(
      (upload) => upload.key.startsWith(prefix) && markOf(upload) > from,
    )
    const page = rest.slice(0, this.#perPage)
    const last = page.at(-1) ?? { key: '', id: '' }
    const uploads = page.map(({ key, id }) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`)
    return (
      `${xml}<ListMultipartUploadsResult><IsTruncated>${rest.length > page.length}` +
      `</IsTruncated><NextKeyMarker>${last.key}</NextKeyMarker><NextUploadIdMarker>${last.id}</NextUploadIdMarker>` +
      `${uploads.join('')}</ListMultipartUploadsResult>`
    )
  }
}

const markOf = ({ key, id }: { key: string; id: string }) => `${key} ${id}`

/** The used part of the package, which has no types. */
type S3rverClass = new (
  options: object,
) => {
  configureBuckets(): Promise<unknown>
  callback(): RequestListener
  store: S3rverStore
}

interface S3rverStore {
  listObjects(
    bucket: string,
    options: object,
  ): Promise<{ objects: { key: string }[]; commonPrefixes: string[]; isTruncated: boolean }>
  putObject(object: { bucket: string; key: string; content: Buffer; metadata: object }): Promise<unknown>
  deleteObject(bucket: string, key: string): Promise<void>
  getResourcePath(bucket: string, key: string, part: string): string
}
