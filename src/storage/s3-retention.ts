import type {
  ListMultipartUploadsCommand,
  ListMultipartUploadsCommandOutput,
  ListMultipartUploadsRequest,
} from '@aws-sdk/client-s3'
import { dayOf, isDay, isKey } from './key.ts'
import type { Bucket } from './s3-bucket.ts'

/**
 * Implements `removeBefore` of ImageStorage. If processes run it at the same time, several of them may count
 * the same object.
 */
export async function removeObjectsBefore(bucket: Bucket, moment: Date): Promise<number> {
  const firstKept = dayOf(moment)
  let removed = 0
  for (const day of await daysOf(bucket)) {
    if (day < firstKept) removed += await removeDay(bucket, day)
  }
  return removed + (await abortUploadsBefore(bucket, firstKept))
}

async function daysOf({ sdk, client, name, prefix }: Bucket): Promise<string[]> {
  const days: string[] = []
  const pages = sdk.paginateListObjectsV2({ client }, { Bucket: name, Prefix: prefix, Delimiter: '/' })
  for await (const page of pages) {
    for (const folder of page.CommonPrefixes ?? []) {
      days.push(folder.Prefix?.slice(prefix.length, -1) ?? '')
    }
  }
  return days.filter(isDay)
}

/** A page of a listing has at most 1000 objects, which is also the maximum that one call can delete. */
async function removeDay({ sdk, client, name, prefix }: Bucket, day: string): Promise<number> {
  let removed = 0
  const pages = sdk.paginateListObjectsV2({ client }, { Bucket: name, Prefix: `${prefix}${day}/` })
  for await (const page of pages) {
    const objects = (page.Contents ?? [])
      .flatMap(({ Key }) => (Key === undefined ? [] : [{ Key }]))
      // The bucket may contain objects of other programs.
      .filter(({ Key }) => isKey(Key.slice(prefix.length)))
    if (objects.length === 0) continue
    const command = new sdk.DeleteObjectsCommand({
      Bucket: name,
      Delete: { Objects: objects, Quiet: true },
      // S3 requires a checksum for this call. Every service supports this one, which is sent as Content-MD5.
      ChecksumAlgorithm: 'MD5',
    })
    command.middlewareStack.add(withoutAlgorithm, { step: 'build', priority: 'low' })
    const { Errors: failed = [] } = await client.send(command)
    const [first] = failed
    if (first !== undefined) {
      throw new Error(
        `${failed.length} of ${objects.length} images of ${day} cannot be deleted from the bucket ${name}: ${first.Message}`,
      )
    }
    removed += objects.length
  }
  return removed
}

/**
 * Removes the header that names the algorithm. If it is present, S3 refuses a request without the
 * x-amz-checksum header of that algorithm.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html
 */
function withoutAlgorithm<Args extends { request: unknown }, Answer>(next: (args: Args) => Answer) {
  return (args: Args): Answer => {
    const { request } = args
    if (typeof request === 'object' && request !== null && 'headers' in request) {
      const { headers } = request
      if (typeof headers === 'object' && headers !== null) {
        Reflect.deleteProperty(headers, 'x-amz-sdk-checksum-algorithm')
      }
    }
    return next(args)
  }
}

/** Aborts uploads whose process died. Their parts cost money, and listings of objects do not include them. */
async function abortUploadsBefore(bucket: Bucket, firstKept: string): Promise<number> {
  const { sdk, client, name, prefix } = bucket
  let aborted = 0
  for await (const { Key, UploadId } of unfinishedUploads(bucket)) {
    if (Key === undefined || UploadId === undefined) continue
    const key = Key.slice(prefix.length)
    if (!isKey(key) || key.slice(0, firstKept.length) >= firstKept) continue
    try {
      await client.send(new sdk.AbortMultipartUploadCommand({ Bucket: name, Key, UploadId }))
      aborted += 1
    } catch (error) {
      // Another process has already aborted it.
      if (!(error instanceof sdk.NoSuchUpload)) throw error
    }
  }
  return aborted
}

/**
 * Yields nothing if the service cannot list uploads. In that case a lifecycle rule of the bucket must abort
 * them.
 */
async function* unfinishedUploads({ sdk, client, name, prefix }: Bucket) {
  let from: Pick<ListMultipartUploadsRequest, 'KeyMarker' | 'UploadIdMarker'> | undefined = {}
  while (from !== undefined) {
    const command: ListMultipartUploadsCommand = new sdk.ListMultipartUploadsCommand({
      Bucket: name,
      Prefix: prefix,
      ...from,
    })
    const page: ListMultipartUploadsCommandOutput | undefined = await client
      .send(command)
      .catch((error: unknown) => {
        if (error instanceof Error && error.name === 'NotImplemented') return undefined
        throw error
      })
    if (page === undefined) return
    yield* page.Uploads ?? []
    from =
      page.IsTruncated === true
        ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
        : undefined
  }
}
